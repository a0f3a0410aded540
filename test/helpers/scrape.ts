/** What Prometheus' text format says, read as Prometheus reads it. */
export interface Scrape {
  /** By name and labels as written, such as `up{a="b"}`. */
  readonly samples: ReadonlyMap<string, number>;
  /** By name: the kind and what it means. */
  readonly metrics: ReadonlyMap<string, { readonly type: string; readonly help: string }>;
  readonly text: string;
}

export function parseScrape(text: string): Scrape {
  const samples = new Map<string, number>();
  const helps = new Map<string, string>();
  const metrics = new Map<string, { type: string; help: string }>();
  for (const line of text.split('\n')) {
    const [, name = '', help] = /^# HELP (\S+) (.*)$/.exec(line) ?? [];
    const [, typed = '', type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    const [, sample = '', value] = /^([a-z_]+(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
    if (help !== undefined) helps.set(name, help);
    if (type !== undefined) metrics.set(typed, { type, help: helps.get(typed) ?? '' });
    if (value !== undefined) samples.set(sample, Number(value));
  }
  return { samples, metrics, text };
}

/** @throws Error for an answer that is no scrape */
export async function scrape(url: string, headers: Record<string, string> = {}): Promise<Scrape> {
  const response = await fetch(`${url}/metrics`, { headers });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  return parseScrape(text);
}
