/**
 * An Agent Dispatch Manifest as it stands: batches and their agents, each value checked.
 *
 *   A1. What the manifest means is not decided here; only that it can be read.
 *   A2. A key nobody knows is a warning: planners write what they like beside the manifest.
 */

import { type Place, type ProblemLog, quote } from '../../problem.ts';
import { describe, type YamlMap, type YamlNode } from '../../yaml-source.ts';
import { branch, word } from '../native/values.ts';
import { Fields, type Placed } from './fields.ts';
import { isOutside, placeOfPath, type Roots } from './paths.ts';

export interface Manifest {
  /** Empty where it is not given. */
  readonly planId: string;
  readonly target?: string;
  readonly batches: readonly Batch[];
}

export interface Batch {
  readonly id: string;
  readonly at: Place;
  readonly description: string;
  /** Whether its agents work at the same time. */
  readonly isParallel: boolean;
  /** Whether the next batch is told what its agents have said. */
  readonly isFanOut: boolean;
  /** Batches that must be done before; undefined means the one in front of it. */
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
  /** Batches that it waits for beyond those of its own batch. */
  readonly dependsOn: readonly Placed<string>[];
}

/** More than any plan that was meant; needs between batches grow with the square. */
const MAX_AGENTS = 1_000;
const MAX_BATCHES = 1_000;
/** What the planners of these manifests keep to. */
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

/** Reads all of the manifest; null where it is not even an object. */
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
  log.error(fields.placeOf('target_branch'), `target_branch: ${quote(target)} is no branch name`);
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
      'make several plans of it',
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
    log.error(excess.at, `more than ${MAX_AGENTS} agents`, 'make several plans of it');
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
      const remedy = `the batch on line ${earlier} has it too: give each its own`;
      log.error(at, `two batches have the id ${id}`, remedy);
    }
    lines.set(id, at.line);
  }
  const numbers = batches.map(({ id }) => Number(id));
  const late = numbers.findIndex((number, index) => number < (numbers[index - 1] ?? number));
  if (late === -1) return;
  const remedy = 'batches are done in the order of the list, not of their ids';
  log.warning(batches[late]!.at, `batch ${batches[late]!.id} stands behind a later one`, remedy);
}

class BatchReader {
  readonly #fields: Fields;
  readonly #log: ProblemLog;
  readonly #id: string | null;
  /** How messages name the batch. */
  readonly #name: string;

  constructor(map: YamlMap, index: number, log: ProblemLog) {
    this.#log = log;
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
    const given = fields.text('subagent_type');
    const older = fields.text('agent');
    const key = given === undefined ? 'agent' : 'subagent_type';
    const type = given ?? older;
    if (type === undefined) {
      const isThere = fields.node('subagent_type') ?? fields.node('agent');
      const remedy = 'name an agent, or write "main" for a session without a role';
      if (isThere === undefined) {
        this.#log.error(fields.at, `${fields.label('subagent_type')} is missing`, remedy);
      }
      return null;
    }
    if (given !== undefined && older !== undefined && given !== older) {
      const message = `${fields.label('agent')} and subagent_type differ`;
      this.#log.warning(fields.placeOf('agent'), message, `${quote(given)} counts`);
    }
    if (word.safeParse(type).success) return type;
    const message = `${fields.label(key)} ${quote(type)} is no name of an agent`;
    this.#log.error(fields.placeOf(key), message, 'use a name without blanks');
    return null;
  }

  #owned(fields: Fields, roots: Roots): readonly Placed<string>[] {
    return fields.texts('owns_files').flatMap(({ value, at }) => {
      const path = placeOfPath(value, roots) || '**';
      if (!isOutside(path)) return { value: path, at };
      const message = `${fields.label('owns_files')}: ${quote(value)} is not in this repository`;
      this.#log.warning(at, message, 'it is ignored: only this repository is looked after');
      return [];
    });
  }

  /** This repository is committed by landing. */
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
