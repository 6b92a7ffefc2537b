/**
 * Reads an Agent Dispatch Manifest: batches and their agents, each value checked; graph.ts decides what
 * they mean. An unknown key is a warning, because planners add keys of their own.
 */

import { closest } from '../../../../base/closest.ts';
import { normaliseGlob } from '../../../../model/scope.ts';
import { type Place, type ProblemLog, quote } from '../../../problem.ts';
import { describe, entryOf, type YamlMap, type YamlNode } from '../../../syntax/yaml.ts';
import type { PlanInput } from '../../format.ts';
import { branch, word } from '../../native/values.ts';

export interface Manifest {
  readonly planId: string;
  readonly target?: string;
  readonly batches: readonly Batch[];
}

export interface Batch {
  /** Not unique. */
  readonly id: string;
  readonly index: number;
  readonly at: Place;
  readonly description: string;
  readonly isParallel: boolean;
  /** Whether the next batch hears what its agents said. */
  readonly isFanOut: boolean;
  /** Default: the batch before it. */
  readonly dependsOn?: readonly Placed<string>[];
  readonly agents: readonly DispatchAgent[];
  /** Relative to the repository's root, or absolute. */
  readonly verifyFiles: readonly string[];
}

export interface DispatchAgent {
  readonly at: Place;
  /** As the manifest names it; `main` is a session without a role. */
  readonly type: string;
  readonly prompt: string;
  /** Relative to the repository's root. */
  readonly owns: readonly Placed<string>[];
  /** Besides those of its batch. */
  readonly dependsOn: readonly Placed<string>[];
}

/** Needs between batches grow with the square of their number. */
const MAX_AGENTS = 1_000;
const MAX_BATCHES = 1_000;
/** Limits that the planners of these manifests keep. */
const USUAL_AGENTS = 4;
const USUAL_BATCHES = 6;

const ROOT_KEYS = ['plan_id', 'batches', 'target_branch', 'pre_approved'];
const BATCH_KEYS = [
  'id',
  'description',
  'parallel',
  'type',
  'depends_on',
  'verify_files',
  'commit_repos',
  'agents',
];
const AGENT_KEYS = [
  'subagent_type',
  'agent',
  'prompt',
  'owns_files',
  'depends_on',
  'commit_repos',
  'description',
];

export function readManifest(root: YamlNode, roots: Roots, log: ProblemLog): Manifest | null {
  if (root.kind !== 'map') {
    const message = `the manifest must be an object, found ${describe(root)}`;
    log.error(root.at, message, 'write {"batches": [ … ]}');
    return null;
  }
  const fields = new Fields(root, '', log);
  fields.expectOnly(ROOT_KEYS);
  fields.flag('pre_approved');
  const target = readTarget(fields, log);
  return {
    planId: fields.id('plan_id') ?? '',
    ...(target === undefined ? {} : { target }),
    batches: readBatches(fields, roots, log),
  };
}

function readTarget(fields: Fields, log: ProblemLog): string | undefined {
  const target = fields.text('target_branch');
  if (target === undefined || target === '' || branch.safeParse(target).success) {
    return target === '' ? undefined : target;
  }
  log.error(
    fields.placeOf('target_branch'),
    `target_branch: ${quote(target)} is not a branch name`,
  );
  return undefined;
}

function readBatches(fields: Fields, roots: Roots, log: ProblemLog): readonly Batch[] {
  const maps = fields.maps('batches');
  const node = fields.node('batches');
  if (node === undefined || (node.kind === 'list' && node.items.length === 0)) {
    log.error(fields.placeOf('batches'), 'batches is missing or empty', 'list at least one batch');
  }
  if (maps.length > MAX_BATCHES) {
    log.error(
      maps[MAX_BATCHES]!.at,
      `more than ${MAX_BATCHES} batches`,
      'split it into several plans',
    );
    return [];
  }
  const batches = maps.flatMap((map, index) => {
    const batch = new BatchReader(map, index, log).read(roots);
    return batch ?? [];
  });
  checkIds(batches, log);
  const agents = batches.flatMap((batch) => batch.agents);
  const excess = agents[MAX_AGENTS];
  if (excess !== undefined) {
    log.error(excess.at, `more than ${MAX_AGENTS} agents`, 'split it into several plans');
    return [];
  }
  const late = batches[USUAL_BATCHES];
  if (late !== undefined) {
    const message = `${batches.length} batches: plans of more than ${USUAL_BATCHES} are hard to follow`;
    log.warning(late.at, message, 'consider two plans; it runs as it is');
  }
  return batches;
}

function checkIds(batches: readonly Batch[], log: ProblemLog): void {
  const lines = new Map<string, number>();
  for (const { id, at } of batches) {
    const earlier = lines.get(id);
    if (earlier !== undefined) {
      const remedy = `the batch on line ${earlier} has it too; they run in the order of the list`;
      log.warning(at, `two batches have the id ${id}`, remedy);
    }
    lines.set(id, at.line);
  }
  const numbers = batches.map(({ id }) => Number(id));
  const late = numbers.findIndex((number, index) => number < (numbers[index - 1] ?? number));
  if (late === -1) return;
  const remedy = 'batches run in the order of the list, not of their ids';
  log.warning(batches[late]!.at, `batch ${batches[late]!.id} follows a higher number`, remedy);
}

class BatchReader {
  readonly #fields: Fields;
  readonly #log: ProblemLog;
  readonly #id: string | null;
  readonly #index: number;
  /** How messages name the batch. */
  readonly #name: string;

  constructor(map: YamlMap, index: number, log: ProblemLog) {
    this.#log = log;
    this.#index = index;
    const place = `batches[${index}]`;
    const unnamed = new Fields(map, place, log);
    this.#id = unnamed.id('id') ?? null;
    this.#name = this.#id === null ? place : `batch ${this.#id}`;
    this.#fields = new Fields(map, this.#name, log);
    if (unnamed.node('id') === undefined) {
      log.error(map.at, `${place}: id is missing`, `add "id": ${index + 1}`);
    }
  }

  read(roots: Roots): Batch | null {
    const fields = this.#fields;
    fields.expectOnly(BATCH_KEYS);
    const type = this.#type();
    const agents = fields.maps('agents').map((map, at) => this.#agent(map, at, roots));
    const isParallel = fields.flag('parallel') || type === 'fan-out';
    if (agents.length === 0) {
      this.#log.warning(fields.at, `${this.#name} has no agents`, 'there is nothing to do in it');
    } else if (isParallel && agents.length > USUAL_AGENTS) {
      const message = `${this.#name} has ${agents.length} agents at once, more than ${USUAL_AGENTS}`;
      this.#log.warning(fields.at, message, 'as many run as limits.workers or --max-workers allow');
    }
    this.#checkRepositories(fields, roots);
    const dependsOn = fields.node('depends_on') === undefined ? null : fields.ids('depends_on');
    const verify = fields.texts('verify_files').map(({ value }) => placeOfPath(value, roots));
    if (this.#id === null) return null;
    return {
      id: this.#id,
      index: this.#index,
      at: fields.at,
      description: fields.text('description')?.trim() ?? '',
      isParallel,
      isFanOut: type === 'fan-out',
      ...(dependsOn === null ? {} : { dependsOn }),
      agents: agents.filter((agent) => agent !== null),
      verifyFiles: verify.map((path) => path || '.'),
    };
  }

  #type(): string | undefined {
    const type = this.#fields.text('type');
    if (type === undefined || type === 'fan-out' || type === 'sequential') return type;
    const message = `${this.#fields.label('type')} ${quote(type)} is not known`;
    this.#log.error(this.#fields.placeOf('type'), message, 'use fan-out or sequential');
    return undefined;
  }

  #agent(map: YamlMap, index: number, roots: Roots): DispatchAgent | null {
    const fields = new Fields(map, `${this.#name}, agents[${index}]`, this.#log);
    fields.expectOnly(AGENT_KEYS);
    const type = this.#agentType(fields);
    const prompt = fields.text('prompt');
    if (fields.node('prompt') === undefined || prompt?.trim() === '') {
      this.#log.error(fields.placeOf('prompt'), `${fields.label('prompt')} is missing or empty`);
    }
    this.#checkRepositories(fields, roots);
    const owns = this.#owned(fields, roots);
    const dependsOn = fields.ids('depends_on');
    if (type === null || prompt === undefined) return null;
    return { at: fields.at, type, prompt, owns, dependsOn };
  }

  #agentType(fields: Fields): string | null {
    const current = fields.text('subagent_type');
    const older = fields.text('agent');
    const key = current === undefined ? 'agent' : 'subagent_type';
    const type = current ?? older;
    if (type === undefined) {
      const isThere = fields.node('subagent_type') ?? fields.node('agent');
      const remedy = 'name an agent, or write "main" for a session without a role';
      if (isThere === undefined) {
        this.#log.error(fields.at, `${fields.label('subagent_type')} is missing`, remedy);
      }
      return null;
    }
    if (current !== undefined && older !== undefined && current !== older) {
      const message = `${fields.label('agent')} and subagent_type differ`;
      this.#log.warning(fields.placeOf('agent'), message, `${quote(current)} counts`);
    }
    if (word.safeParse(type).success) return type;
    const message = `${fields.label(key)} ${quote(type)} is not an agent name`;
    this.#log.error(fields.placeOf(key), message, 'use a name without spaces');
    return null;
  }

  #owned(fields: Fields, roots: Roots): readonly Placed<string>[] {
    return fields.texts('owns_files').flatMap(({ value, at }) => {
      const path = placeOfPath(value, roots) || '**';
      if (!isOutside(path)) return { value: path, at };
      const message = `${fields.label('owns_files')}: ${quote(value)} is not in this repository`;
      this.#log.warning(at, message, 'it is ignored: Landfast works on one repository');
      return [];
    });
  }

  /** Landing commits this repository, and no other. */
  #checkRepositories(fields: Fields, roots: Roots): void {
    const own = roots.root.split('/').at(-1);
    const others = fields
      .texts('commit_repos')
      .filter(({ value }) => value !== own && placeOfPath(value, roots) !== '');
    const [first] = others;
    if (first === undefined) return;
    const names = others.map(({ value }) => quote(value)).join(', ');
    const message = `${fields.label('commit_repos')}: ${names} is not this repository`;
    this.#log.warning(first.at, message, 'commit there yourself: Landfast works on one repository');
  }
}

export interface Placed<T> {
  readonly value: T;
  readonly at: Place;
}

export class Fields {
  readonly at: Place;
  readonly #map: YamlMap;
  /** How messages name the object; '' is the manifest itself. */
  readonly #name: string;
  readonly #log: ProblemLog;

  constructor(map: YamlMap, name: string, log: ProblemLog) {
    this.#map = map;
    this.at = map.at;
    this.#name = name;
    this.#log = log;
  }

  /** Undefined also for `null`. */
  node(key: string): YamlNode | undefined {
    const value = entryOf(this.#map, key)?.value;
    return value?.kind === 'scalar' && value.value === null ? undefined : value;
  }

  placeOf(key: string): Place {
    return this.node(key)?.at ?? this.at;
  }

  text(key: string): string | undefined {
    const node = this.node(key);
    if (node === undefined) return undefined;
    const value = node.kind === 'scalar' ? node.value : null;
    if (typeof value !== 'string') return this.#wrong(node, key, 'text');
    if (!value.includes('\0')) return value;
    this.#log.error(node.at, `${this.label(key)} must not contain NUL`);
    return undefined;
  }

  flag(key: string): boolean {
    const node = this.node(key);
    if (node === undefined) return false;
    const value = node.kind === 'scalar' ? node.value : null;
    if (typeof value === 'boolean') return value;
    this.#wrong(node, key, 'true or false');
    return false;
  }

  /** A whole number, or text that is not blank; as text. */
  id(key: string): string | undefined {
    const node = this.node(key);
    if (node === undefined) return undefined;
    return idOf(node) ?? this.#wrong(node, key, 'a whole number or text');
  }

  texts(key: string): readonly Placed<string>[] {
    return this.#list(key, 'a list of texts', (node) => {
      const value = node.kind === 'scalar' ? node.value : null;
      return typeof value === 'string' && value.trim() !== '' ? value : null;
    });
  }

  ids(key: string): readonly Placed<string>[] {
    return this.#list(key, 'a list of batch ids', idOf);
  }

  maps(key: string): readonly YamlMap[] {
    const entries = this.#list(key, 'a list of objects', (node) =>
      node.kind === 'map' ? node : null,
    );
    return entries.map(({ value }) => value);
  }

  expectOnly(known: readonly string[]): void {
    for (const { key, keyAt } of this.#map.entries.values()) {
      if (known.includes(String(key))) continue;
      const guess = this.#log.isFull ? null : closest(String(key), known);
      const remedy = guess === null ? `known keys: ${known.join(', ')}` : `did you mean ${guess}?`;
      this.#log.warning(keyAt, `${this.label(quote(String(key)))} is unknown and ignored`, remedy);
    }
  }

  label(key: string): string {
    return this.#name === '' ? key : `${this.#name}: ${key}`;
  }

  #list<T>(key: string, what: string, read: (node: YamlNode) => T | null): readonly Placed<T>[] {
    const node = this.node(key);
    if (node === undefined) return [];
    if (node.kind !== 'list') {
      this.#wrong(node, key, what);
      return [];
    }
    return node.items.flatMap((item) => {
      const value = read(item);
      if (value !== null) return { value, at: item.at };
      this.#wrong(item, key, what);
      return [];
    });
  }

  #wrong(node: YamlNode, key: string, expected: string): undefined {
    const message = `${this.label(key)} must be ${expected}, found ${describe(node)}`;
    this.#log.error(node.at, message);
  }
}

function idOf(node: YamlNode): string | null {
  const value = node.kind === 'scalar' ? node.value : null;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

export interface Roots {
  readonly root: string;
  readonly home: string;
}

export function rootsOf({ repository, home }: PlanInput): Roots {
  return { root: repository.root, home };
}

/** Relative to the root if it is below it ('' is the root itself), else absolute. */
export function placeOfPath(path: string, { root, home }: Roots): string {
  const full = expandHome(path.trim(), home);
  const given = full.startsWith('/') ? full : `${root}/${full}`;
  const normal = normaliseGlob(given);
  const base = normaliseGlob(root);
  if (normal === base) return '';
  return normal.startsWith(`${base}/`) ? normal.slice(base.length + 1) : normal;
}

export function isOutside(path: string): boolean {
  return path.startsWith('/');
}

function expandHome(path: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? `${home}${path.slice(1)}` : path;
}
