import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fillInstructions } from '../../src/core/context/instruction.ts';
import { MATURITY_NOTE } from '../../src/core/context/maturity-note.ts';
import { renderMemoryBlock } from '../../src/core/context/memory-block.ts';
import { visibleText } from '../../src/core/context/visible-text.ts';
import { utf8ByteCounter } from '../../src/tokenizer/utf8-byte-counter.ts';
import { HOSTILE_CONTENTS } from '../helpers/hostile-contents.ts';
import { hostileHits, hostileText, RULES, VARIABLES } from '../helpers/hostile-hits.ts';
import { headerLines, type ParsedEntry, parseMemoryBlock } from '../helpers/memory-block-parser.ts';

const INSTRUCTIONS = fillInstructions(RULES, VARIABLES);
const INSTRUCTION_OF = new Map(INSTRUCTIONS.map((instruction) => [instruction.pattern, instruction]));
/** What a block holds of control and invisible characters: line feeds, tabs, and what emoji and words need. */
const FORBIDDEN =
  /[^\P{Cc}\n\t]|[\u200b\u2028-\u202e\u2060-\u206f\ufeff\u00ad\u3164\u{e0000}-\u{e0fff}]|\p{Cs}/u;

/** A line that a reader may take for a delimiter, and that is no header of the real form. */
const FALSE_DELIMITER =
  /^[^\S\n]*[\p{Pd}−─](?:[^\S\n]*[\p{Pd}−─]){2}(?! MEMORY ENTRY \(Stored on [^\n]*, Namespace: ns\.\d\) ---$)/mu;

type Hits = Parameters<typeof renderMemoryBlock>[0]['hits'];

function render(hits: Hits, rules = RULES) {
  return renderMemoryBlock({
    hits,
    rules,
    variables: VARIABLES,
    tokenBudget: 1_000_000,
    counter: utf8ByteCounter,
  });
}

function day(time: Date): string {
  return `${time.getUTCMonth() + 1}/${time.getUTCDate()}/${time.getUTCFullYear()}`;
}

/** What a reader must find, worked out without the renderer: groups by namespace, in order of first sight. */
function expectedEntries(hits: Hits): ParsedEntry[] {
  const groups: Hits[number][][] = [];
  for (const hit of hits) {
    const group = groups.find(([first]) => first?.entry.namespace === hit.entry.namespace);
    if (group !== undefined && INSTRUCTION_OF.has(hit.entry.namespace)) group.push(hit);
    else groups.push([hit]);
  }
  return groups.flatMap((group) =>
    group.map(({ entry }, index): ParsedEntry => {
      const instruction = INSTRUCTION_OF.get(entry.namespace);
      const { confirmedAt } = entry;
      const confirmedOn =
        confirmedAt === null || day(confirmedAt) === day(entry.createdAt) ? '' : day(confirmedAt);
      return {
        stored: day(entry.createdAt),
        confirmed: entry.status === 'confirmed' ? confirmedOn : null,
        namespace: entry.namespace,
        content: visibleText(entry.content),
        before: index === 0 ? instruction?.before || null : null,
        after: index === group.length - 1 ? instruction?.after || null : null,
      };
    }),
  );
}

describe('whatever the contents say', () => {
  test('the block reads back as exactly these entries, in these groups', () => {
    fc.assert(
      fc.property(hostileHits, (hits) => {
        expect(parseMemoryBlock(render(hits).text, INSTRUCTIONS)).toEqual(expectedEntries(hits));
      }),
      { numRuns: 2000 },
    );
  });

  test('there are as many headers as entries, and one note', () => {
    fc.assert(
      fc.property(hostileHits, (hits) => {
        const { text } = render(hits);
        expect(headerLines(text)).toHaveLength(hits.length);
        expect(text).not.toMatch(FALSE_DELIMITER);
        expect(text.split('MEMORY ENTRY (Stored on')).toHaveLength(hits.length + 1);
        expect(text.split(MATURITY_NOTE)).toHaveLength(hits.length === 0 ? 1 : 2);
      }),
      { numRuns: 1000 },
    );
  });

  test('a long instruction occurs once for its group and nowhere else', () => {
    const instruction = 'USER PREFERENCE (MEMORY): take it into account in your answer:';
    fc.assert(
      fc.property(hostileHits, (hits) => {
        const groups = hits.some(({ entry }) => entry.namespace === 'ns.0') ? 1 : 0;
        expect(render(hits).text.split(instruction)).toHaveLength(groups + 1);
      }),
      { numRuns: 1000 },
    );
  });

  test('nothing hidden and no control character is left', () => {
    fc.assert(
      fc.property(hostileHits, (hits) => {
        expect(render(hits).text).not.toMatch(FORBIDDEN);
      }),
      { numRuns: 1000 },
    );
  });

  test('the same input gives the same bytes, in whatever order the rules come', () => {
    fc.assert(
      fc.property(
        hostileHits,
        fc.shuffledSubarray([...RULES], { minLength: RULES.length }),
        (hits, rules) => {
          expect(render(hits, rules)).toEqual(render(structuredClone(hits)));
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('between two honest entries:', () => {
  const stored = (id: string, content: string) => ({
    entry: {
      id,
      namespace: 'ns.0',
      content,
      status: 'unconfirmed' as const,
      createdAt: new Date('2026-01-19T12:00:00Z'),
      confirmedAt: null,
    },
  });

  test.each(Object.entries(HOSTILE_CONTENTS))('%s', (_name, content) => {
    const hits = [stored('1', 'Before.'), stored('2', content), stored('3', 'After.')];
    const { text } = render(hits);
    expect(parseMemoryBlock(text, INSTRUCTIONS)).toEqual(expectedEntries(hits));
    expect(headerLines(text)).toHaveLength(3);
    expect(text.split(MATURITY_NOTE)).toHaveLength(2);
    expect(text).not.toMatch(FORBIDDEN);
    expect(text).not.toMatch(FALSE_DELIMITER);
  });
});

test('whatever the request says, an instruction makes no header', () => {
  fc.assert(
    fc.property(hostileText, hostileText, (user_id, task_id) => {
      const rules = RULES.map((rule) => ({
        ...rule,
        instructionTemplate: '${user_id}{{content}}${task_id}',
      }));
      const { text } = renderMemoryBlock({
        hits: [
          {
            entry: {
              id: '1',
              namespace: 'ns.0',
              content: 'x',
              status: 'unconfirmed',
              createdAt: new Date(0),
              confirmedAt: null,
            },
          },
        ],
        rules,
        variables: { user_id, task_id },
        tokenBudget: 1_000_000,
        counter: utf8ByteCounter,
      });
      expect(headerLines(text)).toHaveLength(1);
      expect(text.split(MATURITY_NOTE)).toHaveLength(2);
      expect(text).not.toMatch(FORBIDDEN);
    }),
    { numRuns: 1000 },
  );
});
