import type { WireBreakdown, WireTrace } from '../../contract/ranking-trace.ts';
import type { WireHit, WireRecallAnswer } from '../../contract/recall-answer.ts';
import { entryCell } from './entries.ts';
import { printable } from './printable.ts';
import { textTable } from './table.ts';

/** Cut candidates an explanation lists, nearest to the line first. */
const SHOWN_CUTS = 5;
/** A table of numbers is read more easily when it is not stretched. */
const BREAKDOWN_WIDTH = 88;

/** The hits of a recall as a table. */
export function recallTable({ hits, trace }: WireRecallAnswer, width: number): string {
  if (hits.length === 0) return nothingFound(trace);
  const rows = hits.map((hit, index) => [
    String(index + 1),
    shortNumber(hit.score),
    shortNumber(hit.similarity),
    hitCell(hit),
  ]);
  const scoreName = hits.some(({ relevance }) => relevance !== null) ? 'relevance' : 'score';
  return textTable(
    [
      { head: '#', align: 'right' },
      { head: scoreName, align: 'right' },
      { head: 'similarity', align: 'right' },
      { head: 'entry' },
    ],
    rows,
    { width },
  );
}

/** An empty result says whether there was nothing, or nothing above the lines. */
function nothingFound(trace: WireTrace | undefined): string {
  const [best] = trace?.cut ?? [];
  if (best === undefined) return 'Nothing found.\n';
  return `Nothing found: the best of the candidates was cut, ${whyCut(best)} with ${longNumber(best.score)}. A lower line is set with --min-score.\n`;
}

function hitCell({ entry, duplicates }: WireHit): string {
  if (duplicates.length === 0) return entryCell(entry);
  const places = duplicates.map(({ namespace }) => namespace).join(', ');
  return `${entryCell(entry)}\nthe same content also in ${printable(places)}`;
}

/** How the ranking came about: the formula's parameters, every factor of every hit, and what was cut and why. */
export function explanation({ hits, trace }: WireRecallAnswer, width: number): string {
  if (trace === undefined) return '';
  return [
    summary(trace),
    ...hits.map((hit, index) => breakdownTable(index + 1, hit.breakdown, width)),
    cuts(trace, width),
  ].join('\n');
}

function summary(trace: WireTrace): string {
  const { profile, parameters } = trace;
  const formula =
    profile.kind === 'boosted'
      ? `similarity × (1 + Σ bonus + ${profile.recency_decay} / (1 + age in days))`
      : `${profile.weights.similarity} similarity + ${profile.weights.recency} recency (half-life ${profile.half_life_days} d) + ${profile.weights.importance} importance + ${profile.weights.frequency} frequency`;
  return [
    `profile      ${printable(profile.name)}: ${formula}`,
    `lines        min_score ${parameters.min_score}, relative_cutoff ${parameters.relative_cutoff}, top_k ${parameters.top_k}`,
    `searched     ${trace.namespaces.length} namespace${trace.namespaces.length === 1 ? '' : 's'}, ${trace.index}, ${exactness(trace)}`,
    `model        ${trace.embedding_model_id ?? 'none: no query'}`,
    `took         ${Object.entries(trace.timings)
      .map(([step, ms]) => `${step} ${ms} ms`)
      .join(', ')}`,
    `trace        ${trace.id}`,
    '',
  ].join('\n');
}

function exactness({ exact, certificate: { bound, kth_score: kthScore } }: WireTrace): string {
  if (!exact) return 'not proven exact';
  if (bound === null) return 'exact: every entry was ranked';
  const line = kthScore === null ? 'below the lines' : `below the last hit's ${longNumber(kthScore)}`;
  return `exact: nothing else can score more than ${longNumber(bound)}, ${line}`;
}

/** What each signal's raw value is. */
const SIGNAL_NAMES: Readonly<Record<WireBreakdown['factors'][number]['signal'], string>> = {
  similarity: 'similarity (cosine)',
  bonus: 'bonus (rule)',
  recency: 'recency (age in days)',
  importance: 'importance (as sent)',
  frequency: 'frequency (count)',
};

function breakdownTable(place: number, breakdown: WireBreakdown | null, width: number): string {
  if (breakdown === null) return `#${place}: no score, newest first\n`;
  const rows = breakdown.factors.map((factor) => [
    factor.pattern === undefined ? SIGNAL_NAMES[factor.signal] : `bonus of ${printable(factor.pattern)}`,
    longNumber(factor.raw),
    longNumber(factor.value),
    longNumber(factor.weight),
    longNumber(factor.contribution),
  ]);
  rows.push(['the score is their sum', '', '', '', longNumber(breakdown.score)]);
  return `#${place}\n${textTable(
    [
      { head: 'signal' },
      { head: 'raw', align: 'right' },
      { head: 'value', align: 'right' },
      { head: '× weight', align: 'right' },
      { head: '= contribution', align: 'right' },
    ],
    rows,
    { width: Math.min(width, BREAKDOWN_WIDTH), isCompact: true },
  )}`;
}

type WireCut = WireTrace['cut'][number];

function cuts(trace: WireTrace, width: number): string {
  if (trace.cut_count === 0) return 'Nothing was cut.\n';
  const shown = trace.cut.slice(0, SHOWN_CUTS);
  const rows = shown.map((cut) => [
    shortNumber(cut.score),
    shortNumber(cut.similarity),
    [whyCut(cut), sumOf(cut.breakdown), `${printable(cut.namespace)} · ${cut.id}`]
      .filter((line) => line !== '')
      .join('\n'),
  ]);
  return textTable(
    [
      { head: 'score', align: 'right' },
      { head: 'similarity', align: 'right' },
      { head: `cut: the first ${rows.length} of ${trace.cut_count} candidates` },
    ],
    rows,
    { width },
  );
}

/** A breakdown on one line. */
function sumOf(breakdown: WireBreakdown | null): string {
  if (breakdown === null) return '';
  const terms = breakdown.factors.map(({ signal, contribution }) => `${signal} ${longNumber(contribution)}`);
  return `${terms.join(' + ')} = ${longNumber(breakdown.score)}`;
}

function whyCut(cut: WireCut): string {
  switch (cut.reason) {
    case 'min_score':
      return `below min_score ${longNumber(cut.threshold)}`;
    case 'relative_cutoff':
      return `below ${longNumber(cut.threshold)}, the relative cutoff of the best score`;
    case 'duplicate':
      return `same content as ${cut.duplicate_of}`;
    case 'top_k':
      return 'beyond top_k';
    case 'token_budget':
      return 'beyond the token budget';
  }
}

function shortNumber(value: number | null): string {
  return value === null ? '–' : value.toFixed(3);
}

function longNumber(value: number | null): string {
  return value === null ? '–' : value.toFixed(6);
}
