import type { ServerProcess } from './server-process.ts';

/** The contents of everything a server lists, page after page. */
export async function storedContents(server: ServerProcess): Promise<Set<string>> {
  const contents = new Set<string>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const response = await server.get(
      `/v1/memories?limit=500${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    const page = (await response.json()) as { entries: { content: string }[]; next_cursor: string | null };
    for (const { content } of page.entries) contents.add(content);
    cursor = page.next_cursor;
  }
  return contents;
}
