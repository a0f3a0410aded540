import { compareInstructionPatterns } from '../namespace.ts';
import { matchRules } from '../ranking/rules.ts';
import type { NamespaceRule } from '../types.ts';
import { HEADER_START } from './entry-header.ts';
import { guardAgainst, markImitations } from './imitation.ts';
import { MATURITY_NOTE } from './maturity-note.ts';
import { visibleLine, visibleText } from './visible-text.ts';

/** The variables an instruction template may hold, filled from the request. */
export const INSTRUCTION_VARIABLES = ['user_id', 'agent_id', 'task_id'] as const;

export type InstructionVariable = (typeof INSTRUCTION_VARIABLES)[number];

/** What the request says about itself. */
export type InstructionVariables = Readonly<Partial<Record<InstructionVariable, string | undefined>>>;

/** A variable that a template names and the request has not. */
export interface UnsetVariable {
  /** Pattern of the rule. */
  readonly pattern: string;
  readonly variable: InstructionVariable;
}

/** A rule's template, ready to stand around its group. */
export interface Instruction {
  readonly pattern: string;
  /** Text above the group; empty where there is none. */
  readonly before: string;
  /** Text below the group; empty where there is none. */
  readonly after: string;
  readonly unset: readonly UnsetVariable[];
}

/** Where the group goes. Tolerates inner spaces, as template languages with these braces do. */
const GROUP_PLACE = /\{\{\s*content\s*\}\}/;
const VARIABLE = new RegExp(`\\$\\{(${INSTRUCTION_VARIABLES.join('|')})\\}`, 'g');

/**
 * An instruction is the administrator's text and stands as written, but no value in it, and no slip of the
 * pen, may make it read as an entry or as the note.
 */
const STRUCTURE = guardAgainst([HEADER_START, MATURITY_NOTE], { dashedLines: false });

/**
 * The instructions of all rules that have one. The order of the rules makes no difference.
 *
 * A variable the request does not set stays as written, `${task_id}`, and is reported: an instruction that
 * names an unknown task is odd, an agent that gets no memory because of it is broken. (In a policy's pattern
 * the same is an error, for there it would widen what may be read.)
 */
export function fillInstructions(
  rules: readonly NamespaceRule[],
  variables: InstructionVariables,
): Instruction[] {
  return rules.flatMap(({ pattern, instructionTemplate }) =>
    instructionTemplate === null || instructionTemplate.trim() === ''
      ? []
      : [fillInstruction(pattern, instructionTemplate, variables)],
  );
}

function fillInstruction(pattern: string, template: string, variables: InstructionVariables): Instruction {
  // Parted before anything is filled in, so that a value cannot bring a place of its own.
  const place = GROUP_PLACE.exec(template);
  const [before, after] =
    place === null
      ? [template, '']
      : [template.slice(0, place.index), template.slice(place.index + place[0].length)];
  const named = new Set(Array.from(template.matchAll(VARIABLE), ([, name]) => name));
  return {
    pattern,
    before: fillText(before, variables),
    after: fillText(after, variables),
    unset: INSTRUCTION_VARIABLES.filter(
      (name) => named.has(name) && valueFor(variables, name) === undefined,
    ).map((variable) => ({ pattern, variable })),
  };
}

function fillText(text: string, variables: InstructionVariables): string {
  const filled = text.replace(VARIABLE, (written, name: InstructionVariable) => {
    const value = valueFor(variables, name);
    return value === undefined ? written : visibleLine(value);
  });
  return markImitations(visibleText(filled).trim(), STRUCTURE);
}

function valueFor(variables: InstructionVariables, name: InstructionVariable): string | undefined {
  return Object.hasOwn(variables, name) ? variables[name] : undefined;
}

/** For each namespace: the instruction that wins there, if any. */
export function winningInstructions(
  instructions: readonly Instruction[],
  namespaces: Iterable<string>,
): Map<string, Instruction> {
  const winners = new Map<string, Instruction>();
  for (const [namespace, matching] of matchRules(instructions, namespaces)) {
    const [winner] = matching.sort((a, b) => compareInstructionPatterns(a.pattern, b.pattern));
    if (winner !== undefined) winners.set(namespace, winner);
  }
  return winners;
}
