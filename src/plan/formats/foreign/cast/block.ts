/**
 * Finds the manifest in a Markdown plan: the fenced block marked `json dispatch`. Of several, the only
 * one in the section "Agent Dispatch Manifest" counts, with a warning; otherwise it is an error.
 */

import { type Place, type ProblemLog, quote, START } from '../../../problem.ts';
import { type MarkdownFence, type MarkdownPart, readMarkdown } from '../../../syntax/markdown.ts';

const SECTION = /^agent dispatch manifest$/i;

/** Where a dispatch block begins, or at least the heading of its section. */
export function findMarker(text: string): Place | null {
  if (!/dispatch/i.test(text)) return null;
  const parts = readMarkdown(text);
  const block = parts.find(isDispatch);
  const heading = parts.find((part) => part.kind === 'heading' && SECTION.test(part.text));
  if (block !== undefined) return placeOfFence(block);
  return heading === undefined ? null : { line: heading.line, column: 1 };
}

/** The block of the manifest; null, and a problem in the log, if it is missing or ambiguous. */
export function findBlock(text: string, log: ProblemLog): MarkdownFence | null {
  const parts = readMarkdown(text);
  const blocks = parts.filter(isDispatch);
  const block = blocks.length > 1 ? chosenOf(blocks, parts, log) : (blocks[0] ?? null);
  if (blocks.length === 0) reportNone(parts, log);
  if (block !== null && !block.closed) {
    const remedy = 'it is read to the end of the file; end it with a line of three back-ticks';
    log.warning(placeOfFence(block), 'the json dispatch block is not closed', remedy);
  }
  return block;
}

function isDispatch(part: MarkdownPart): part is MarkdownFence {
  return part.kind === 'fence' && /^json\s+dispatch$/i.test(part.info);
}

function placeOfFence({ line, column }: MarkdownFence): Place {
  return { line, column };
}

function chosenOf(
  blocks: readonly MarkdownFence[],
  parts: readonly MarkdownPart[],
  log: ProblemLog,
): MarkdownFence | null {
  const inside = blocksInSection(parts);
  const shown = blocks.slice(0, MAX_SHOWN).map(({ line }) => line);
  const lines = shown.join(' and ') + (blocks.length > MAX_SHOWN ? ' and more' : '');
  const [chosen] = inside;
  if (chosen !== undefined && inside.length === 1) {
    const message = `there are json dispatch blocks on lines ${lines}`;
    const remedy = `the one on line ${chosen.line} is used: its section says so`;
    log.warning(placeOfFence(chosen), message, remedy);
    return chosen;
  }
  log.error(
    placeOfFence(blocks[1]!),
    `there are json dispatch blocks on lines ${lines}: which one is the plan?`,
    'remove the others, or put the right one under a heading "Agent Dispatch Manifest"',
  );
  return null;
}

const MAX_SHOWN = 5;

/** Blocks in that section, including its subsections. */
function blocksInSection(parts: readonly MarkdownPart[]): readonly MarkdownFence[] {
  const inside: MarkdownFence[] = [];
  let level: number | null = null;
  for (const part of parts) {
    if (part.kind === 'heading') {
      if (SECTION.test(part.text)) level = part.level;
      else if (level !== null && part.level <= level) level = null;
    } else if (level !== null && isDispatch(part)) inside.push(part);
  }
  return inside;
}

/** Points at the block that was probably meant. */
function reportNone(parts: readonly MarkdownPart[], log: ProblemLog): void {
  const fences = parts.filter((part) => part.kind === 'fence');
  const near = fences.find(
    ({ info, lines }) =>
      /json|dispatch/i.test(info) && lines.some((line) => /"batches"/.test(line)),
  );
  const open = fences.find(({ closed }) => !closed);
  const message = 'No json dispatch block in this file';
  if (near !== undefined) {
    const remedy = `the block there is marked ${quote(near.info)}: mark it \`json dispatch\``;
    log.error(placeOfFence(near), message, remedy);
  } else if (open !== undefined) {
    const remedy = `the fence of line ${open.line} is never closed: everything after it is its text`;
    log.error(placeOfFence(open), message, remedy);
  } else {
    const remedy =
      "put the manifest between ```json dispatch and ```; see docs/formats.md in landfast's package";
    log.error(START, message, remedy);
  }
}
