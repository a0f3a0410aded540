import { DEFAULT_TOKEN_BUDGET } from '../defaults.ts';
import { excerpt, invalidInput } from '../errors.ts';
import type { TokenCounter } from '../ports.ts';
import type { NamespaceRule } from '../types.ts';
import { contentGuard } from './content-guard.ts';
import {
  type BlockEntry,
  type DayFormat,
  dayFormat,
  entryHeader,
  type RequestLocale,
} from './entry-header.ts';
import { type ImitationGuard, markImitations } from './imitation.ts';
import {
  fillInstructions,
  type Instruction,
  type InstructionVariables,
  type UnsetVariable,
  winningInstructions,
} from './instruction.ts';
import { MATURITY_NOTE } from './maturity-note.ts';
import { keepWithinBudget } from './token-budget.ts';
import { visibleText } from './visible-text.ts';

export interface MemoryBlockInput extends RequestLocale {
  /** In rank order, the best first: what a recall returns. */
  readonly hits: readonly { readonly entry: BlockEntry }[];
  /** All rules; the ones with an instruction for a hit's namespace are found here. */
  readonly rules: readonly NamespaceRule[];
  /** Fill `${user_id}`, `${agent_id}` and `${task_id}` in instructions. Default none. */
  readonly variables?: InstructionVariables | undefined;
  /** Most tokens the whole block may take, at least 0. Default 4000. 0 gives an empty block. */
  readonly tokenBudget?: number | undefined;
  readonly counter: TokenCounter;
}

/** An entry that a hit was found for and that is not in the block. */
export interface LeftOutEntry {
  readonly id: string;
  readonly reason: 'token_budget';
  /** What its header and content alone would take. */
  readonly tokens: number;
}

export interface MemoryBlock {
  /** Empty when no entry is in it. */
  readonly text: string;
  /** Tokens of `text`, at most the budget. */
  readonly tokenCount: number;
  /** Ids of the entries in the block, in the order they stand there. */
  readonly included: readonly string[];
  /** The other hits, in rank order. */
  readonly leftOut: readonly LeftOutEntry[];
  /** Whether anything was left out. */
  readonly truncated: boolean;
  /** Variables that instructions of this block name and the request does not set; they stand as written. */
  readonly unsetVariables: readonly UnsetVariable[];
}

/** A hit as the block shows it. */
interface Section {
  readonly id: string;
  /** Header and content. */
  readonly text: string;
  readonly tokens: number;
  readonly instruction: Instruction | null;
}

/** Neighbours under one instruction; a section without one is alone. */
interface Group {
  readonly instruction: Instruction | null;
  readonly sections: Section[];
}

/**
 * Between an entry and what follows stands one empty line, and an instruction stands right above a header. So
 * no content can stand where an instruction does, whatever it says.
 */
const PARAGRAPH_BREAK = '\n\n';

/**
 * Renders ranked hits as the block of text that goes into a prompt (SPEC section 6).
 *
 * Pure, and without the current time: equal input gives equal bytes. Hits under one instruction form one group;
 * a hit without is a group of its own, so that it keeps its place. Groups stand in the order of their best
 * entry in the block.
 *
 * @throws PalimpsestError `invalid_input` for an unknown locale or time zone, or a budget that is no whole
 *   number of at least 0
 */
export function renderMemoryBlock(input: MemoryBlockInput): MemoryBlock {
  const { hits, rules, counter } = input;
  const budget = checkBudget(input.tokenBudget ?? DEFAULT_TOKEN_BUDGET);
  const instructions = fillInstructions(rules, input.variables ?? {});
  const winners = winningInstructions(instructions, new Set(hits.map(({ entry }) => entry.namespace)));
  const guard = contentGuard(instructions);
  const day = dayFormat(input);
  const sections = hits.map(({ entry }): Section => {
    const text = sectionText(entry, day, guard);
    const instruction = winners.get(entry.namespace) ?? null;
    return { id: entry.id, text, tokens: counter.count(text), instruction };
  });

  const { kept, leftOut, tokenCount } = keepWithinBudget({
    items: sections,
    budget,
    estimate: estimator(counter),
    countWhole: (some) => counter.count(blockText(some)),
  });
  const groups = groupSections(kept);
  return {
    text: blockText(kept),
    tokenCount,
    included: groups.flatMap((group) => group.sections.map(({ id }) => id)),
    leftOut: leftOut.map(({ id, tokens }) => ({ id, reason: 'token_budget', tokens })),
    truncated: leftOut.length > 0,
    unsetVariables: groups.flatMap(({ instruction }) => instruction?.unset ?? []),
  };
}

function checkBudget(budget: number): number {
  if (Number.isSafeInteger(budget) && budget >= 0) return budget;
  throw invalidInput(`token_budget is ${excerpt(budget)}; allowed is a whole number of at least 0.`, {
    path: 'token_budget',
    got: excerpt(budget),
    allowed: 'a whole number of at least 0',
  });
}

function sectionText(entry: BlockEntry, day: DayFormat, guard: ImitationGuard): string {
  return `${entryHeader(entry, day)}\n${markImitations(visibleText(entry.content), guard)}`;
}

/** Groups in the order of their best section; inside a group the order is kept. */
function groupSections(sections: readonly Section[]): Group[] {
  const groups: Group[] = [];
  const byPattern = new Map<string, Group>();
  for (const section of sections) {
    const { instruction } = section;
    const group = instruction === null ? undefined : byPattern.get(instruction.pattern);
    if (group !== undefined) {
      group.sections.push(section);
      continue;
    }
    const opened: Group = { instruction, sections: [section] };
    groups.push(opened);
    if (instruction !== null) byPattern.set(instruction.pattern, opened);
  }
  return groups;
}

function groupText({ instruction, sections }: Group): string {
  const entries = sections.map(({ text }) => text).join(PARAGRAPH_BREAK);
  const before = instruction === null || instruction.before === '' ? '' : `${instruction.before}\n`;
  const after = instruction === null || instruction.after === '' ? '' : PARAGRAPH_BREAK + instruction.after;
  return before + entries + after;
}

function blockText(sections: readonly Section[]): string {
  if (sections.length === 0) return '';
  return [...groupSections(sections).map(groupText), MATURITY_NOTE].join(PARAGRAPH_BREAK);
}

/** Prices a section by its own parts: what it says, the instruction it is the first of, the first of all the note. */
function estimator(counter: TokenCounter): (section: Section, kept: readonly Section[]) => number {
  const note = counter.count(PARAGRAPH_BREAK + MATURITY_NOTE);
  const separator = counter.count(PARAGRAPH_BREAK);
  const priceOf = new Map<Instruction, number>();
  const instructionPrice = (instruction: Instruction) => {
    const known = priceOf.get(instruction);
    if (known !== undefined) return known;
    const price =
      counter.count(`${instruction.before}\n`) + counter.count(PARAGRAPH_BREAK + instruction.after);
    priceOf.set(instruction, price);
    return price;
  };
  return ({ tokens, instruction }, kept) => {
    const opensGroup = instruction !== null && !kept.some((other) => other.instruction === instruction);
    const preamble = opensGroup ? instructionPrice(instruction) : 0;
    return tokens + preamble + (kept.length === 0 ? note : separator);
  };
}
