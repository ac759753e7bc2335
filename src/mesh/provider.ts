import type { ApiCall } from './http.ts';
import type { Device } from './device.ts';

/** A device, with the names besides `name` and `dns_name` that a person may know it by. */
export interface ListedDevice {
  device: Device;
  /** The host's own name, for example; several devices may share one. */
  aliases: string[];
}

/** The management API of one kind of mesh network. */
export interface Provider {
  /** One reading of the whole network, which none of the providers splits into pages. */
  list(call: ApiCall): Promise<ListedDevice[]>;
}

/** What a provider is made from. */
export interface ProviderSettings {
  /** The API's base address; a path in it is kept, for APIs behind a reverse proxy. */
  apiUrl: URL;
  apiKey: string;
  /** Name of the network; "-" is the key's own. */
  network: string;
}

/** The address of an API's path under its base address. */
export function endpoint({ apiUrl }: Pick<ProviderSettings, 'apiUrl'>, path: string): URL {
  const url = new URL(apiUrl);
  const [pathname = '', search = ''] = path.split('?', 2);
  url.pathname = url.pathname.replace(/\/+$/, '') + pathname;
  url.search = search;
  url.hash = '';
  return url;
}
