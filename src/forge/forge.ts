/**
 * The forge port: a service that hosts repositories and their pull requests. There is none yet, so a
 * plan that asks Landfast to open pull requests is refused; agents may open them with their own tools,
 * and name the address in their last words.
 */

export interface Forge {
  readonly name: string;
  /** Opens a pull request for a pushed branch, or finds the one that is open. */
  openPullRequest(request: PullRequest, signal: AbortSignal): Promise<OpenPullRequest>;
}

export interface PullRequest {
  readonly branch: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
}

export interface OpenPullRequest {
  readonly url: string;
  readonly id: number;
}

/** The forges that Landfast talks to. */
export const FORGES: readonly Forge[] = [];

/** What a plan may not ask for without a forge, each with the reason. */
export const UNAVAILABLE_STRATEGIES: Readonly<Record<string, string>> =
  FORGES.length > 0 ? {} : { pr: 'Landfast does not open pull requests itself' };

/** GitHub's and Bitbucket's addresses of pull requests, on whatever host. */
const ADDRESS = /https:\/\/[\w.-]+\/[\w.-]+\/[\w.-]+\/pull(?:-requests)?\/(\d{1,9})\b/g;

/** The last pull request that a text names. */
export function pullRequestIn(text: string): OpenPullRequest | null {
  const last = [...text.matchAll(ADDRESS)].at(-1);
  return last === undefined ? null : { url: last[0], id: Number(last[1]) };
}
