/** A device as every provider reports it, in the shape that mesh_status returns. */
export interface Device {
  /** Short name, unique enough to type: the first label of `dns_name`, or the host's own name. */
  name: string;
  dns_name: string | null;
  addresses: string[];
  os: string | null;
  online: boolean;
  /** ISO 8601; null where the provider doesn't tell (an online device, for example). */
  last_seen: string | null;
  tags: string[];
  user: string | null;
  /** Absent where the provider doesn't tell. */
  ssh_enabled?: boolean;
  client_version: string | null;
  update_available: boolean | null;
  /** ISO 8601; null when the key does not expire. */
  key_expires: string | null;
}

/** The management API of a mesh network. */
export interface Mesh {
  /** What the answers call the network: MESH_NETWORK, or the DNS suffix its devices share once they were read. */
  readonly network: string;
  /**
   * All devices. Answers from a cache of a few seconds.
   * @throws ToolError `auth_failed`, `missing_scope`, `not_found` (the network), `rate_limited`, `timeout`,
   *   `connection_refused`, `too_large`, `upstream_error`; `cancelled` or the signal's own ToolError
   */
  devices(signal: AbortSignal): Promise<Device[]>;
  /**
   * The one device of that name, DNS name or mesh address; letters' case is ignored. While the API is out, from
   * a list up to a minute old: `online` may then be as old.
   * @throws ToolError `device_not_found` (nearest names in the hint), `invalid_input` when ambiguous, and what
   *   `devices` throws
   */
  device(name: string, signal: AbortSignal): Promise<Device>;
}
