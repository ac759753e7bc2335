import { type GistSummary, type Gists, PER_PAGE } from '../../codehost/gists.ts';
import { eachOf } from './pool.ts';

/** How many requests run at a time; the code host frowns on more. */
export const WIDTH = 4;

/** Reads the account's list of gists, asking only for what changed. */
export interface Listing {
  /** All gists; pages that are unchanged cost nothing of the rate limit. */
  all(signal: AbortSignal): Promise<GistSummary[]>;
  /** Those changed at or after a moment, which is the `updated_at` of a gist. */
  since(moment: string, signal: AbortSignal): Promise<GistSummary[]>;
}

interface Page {
  etag: string | undefined;
  gists: GistSummary[];
}

export function createListing(gists: Gists): Listing {
  let pages: Page[] = [];
  let recent: (Page & { moment: string }) | undefined;

  async function read(number: number, into: Page[], signal: AbortSignal): Promise<number> {
    const known = pages[number - 1];
    const { data, etag, lastPage } = await gists.page(number, { etag: known?.etag, signal });
    into[number - 1] = data ? { etag, gists: data } : (known ?? { etag, gists: [] });
    // An unchanged page comes without the header that tells how many there are.
    return data ? (lastPage ?? number) : Math.max(pages.length, number);
  }

  return {
    async all(signal) {
      const fresh: Page[] = [];
      let last = await read(1, fresh, signal);
      const rest = Array.from({ length: last - 1 }, (_, at) => at + 2);
      await eachOf(rest, WIDTH, async (number) => void (await read(number, fresh, signal)));
      // Pages that grew while the first one stayed the same were not counted by it.
      if (fresh[0]?.gists === pages[0]?.gists) {
        while (fresh[last - 1]?.gists.length === PER_PAGE) await read((last += 1), fresh, signal);
      }
      pages = fresh;
      // A gist made while the pages were read pushes others onto the next page, where they are listed again.
      return [...new Map(fresh.flatMap((page) => page.gists).map((gist) => [gist.id, gist])).values()];
    },

    async since(moment, signal) {
      const etag = recent?.moment === moment ? recent.etag : undefined;
      const first = await gists.page(1, { etag, since: moment, signal });
      if (first.data === undefined && recent) return recent.gists;
      const found = [...(first.data ?? [])];
      for (let number = 2; number <= (first.lastPage ?? 1); number += 1) {
        const { data } = await gists.page(number, { since: moment, signal });
        found.push(...(data ?? []));
      }
      recent = { moment, etag: first.lastPage === undefined ? first.etag : undefined, gists: found };
      return found;
    },
  };
}
