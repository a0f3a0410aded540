import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHashingProvider } from '../../src/embedding/hashing.ts';
import { type EmbeddingServer, startEmbeddingServer } from '../helpers/embedding-server.ts';

/** The configuration as an operator gives it to the program: files and variables of a real process. */

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
const KEY = 'sk-of-this-test';

let service: EmbeddingServer;
let folder: string;

beforeAll(async () => {
  const hashing = createHashingProvider();
  service = await startEmbeddingServer({
    key: KEY,
    vectorOf: async (text) => {
      const [vector] = await hashing.embed([text], 'document');
      return [...(vector ?? [])];
    },
  });
});

afterAll(() => service.close());

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-configuration-'));
  return () => rmSync(folder, { recursive: true, force: true });
});

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(argv: readonly string[], environment: Record<string, string> = {}): Promise<Run> {
  const options = {
    cwd: folder,
    env: { ...process.env, PALIMPSEST_DATA_DIR: join(folder, 'data'), ...environment },
  };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [MAIN, ...argv], options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

const NAMED = { EMBEDDING_CONFIG_PATH: join('config', 'embedding.config.json') };

function writeUsualFile(content: unknown): void {
  mkdirSync(join(folder, 'config'), { recursive: true });
  writeFileSync(join(folder, 'config', 'embedding.config.json'), JSON.stringify(content));
}

function cloud(): object {
  return {
    embedding: {
      mode: 'cloud',
      cloud: {
        provider: 'openai',
        base_url: service.openAiUrl,
        model: 'model-of-this-test',
        dimensions: 512,
        api_key: { env: 'KEY_OF_THE_SERVICE' },
        calls: { max_retries: 0 },
      },
    },
  };
}

describe('a service for embeddings', () => {
  it('is asked with the key of the variable that the file names', async () => {
    writeUsualFile(cloud());
    const stored = await run(['remember', 'We deploy on Tuesdays.'], { ...NAMED, KEY_OF_THE_SERVICE: KEY });
    expect(stored).toMatchObject({ code: 0, stderr: '' });
    const found = await run(['recall', 'On what day do we deploy?', '--json'], {
      ...NAMED,
      KEY_OF_THE_SERVICE: KEY,
    });
    expect(JSON.parse(found.stdout).hits[0].entry.content).toBe('We deploy on Tuesdays.');
    expect(service.requests.map(({ headers, body }) => [headers.authorization, body.model])).toEqual(
      Array(service.requests.length).fill([`Bearer ${KEY}`, 'model-of-this-test']),
    );
    expect(service.requests.flatMap(({ input }) => input)).toEqual([
      'We deploy on Tuesdays.',
      'On what day do we deploy?',
    ]);
  });

  it('fails with a reason where the variable holds nothing, or the wrong key, and shows neither', async () => {
    writeUsualFile(cloud());
    const without = await run(['remember', 'x'], NAMED);
    expect(without.code).not.toBe(0);
    expect(without.stderr).toContain('KEY_OF_THE_SERVICE');
    const wrong = await run(['remember', 'x'], { ...NAMED, KEY_OF_THE_SERVICE: 'sk-wrong' });
    expect(wrong.code).not.toBe(0);
    expect(wrong.stderr).toContain('401');
    expect(wrong.stderr).not.toContain('sk-wrong');
  });
});

describe('the file', () => {
  it('of a working directory that nobody named says nothing: memories and keys go nowhere', async () => {
    writeUsualFile({ ...cloud(), store: { data_dir: join(folder, 'elsewhere') } });
    const asked = service.requests.length;
    const { code, stderr } = await run(['remember', 'A private fact.'], { KEY_OF_THE_SERVICE: KEY });
    expect(code).toBe(0);
    expect(stderr).toContain('name it with --config or EMBEDDING_CONFIG_PATH');
    expect(service.requests).toHaveLength(asked);
    expect(existsSync(join(folder, 'elsewhere'))).toBe(false);
    const backup = await run(['backup', 'create', join(folder, 'a.backup')]);
    expect([backup.code, backup.stderr]).toEqual([0, expect.stringContaining('and is not used')]);
  });

  it('that nobody named is not even opened: it may be a link to what never ends', async () => {
    mkdirSync(join(folder, 'config'));
    symlinkSync('/dev/zero', join(folder, 'config', 'embedding.config.json'));
    const { code, stderr } = await run(['list']);
    expect(code).toBe(0);
    expect(stderr).toContain('name it with --config or EMBEDDING_CONFIG_PATH');
  });

  it('is not warned about where `config` is a file', async () => {
    writeFileSync(join(folder, 'config'), '');
    const { code, stderr } = await run(['list']);
    expect(code).toBe(0);
    expect(stderr).not.toContain('embedding.config.json');
  });

  it('is refused for a key that means nothing, with the one that was meant', async () => {
    writeUsualFile({ ranking: { recency_decya: 0.1 } });
    const { code, stderr } = await run(['list'], NAMED);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /"ranking\.recency_decya" in .* is unknown\. Did you mean ranking\.recency_decay\?/,
    );
  });

  it('may hold priorities from before: a warning at the start says what they are as rules', async () => {
    writeFileSync(join(folder, 'old.json'), '{"ranking":{"priorities":{"vector.global.*":1.1}}}');
    const { code, stderr } = await run(['list'], { EMBEDDING_CONFIG_PATH: 'old.json' });
    expect(code).toBe(0);
    expect(stderr).toContain('ranking.priorities is ignored');
    expect(stderr).toContain("palimpsest rules set 'vector.global.*' --bonus 0.1");
    const rule = await run(['rules', 'set', 'vector.global.*', '--bonus', '0.1']);
    expect(rule.code).toBe(0);
  });

  it('sets what the built-in ranking profile does', async () => {
    await run(['remember', 'Tea is served at four.']);
    writeFileSync(join(folder, 'decay.json'), '{"ranking":{"recency_decay":0.5,"min_score":0}}');
    const recall = await run(['recall', 'tea', '--json', '--explain', '--config', 'decay.json']);
    expect(JSON.parse(recall.stdout).trace.profile).toMatchObject({ recency_decay: 0.5, min_score: 0 });
  });
});
