/** A process that takes what several may want, and how to tell whether another one still lives. */

export interface Claimant {
  /** In letters that can be part of a file's name, without a dot. */
  readonly name: string;
  /** Of a process of another host only `touchedAt` tells, the time when it last did something. */
  isAlive(name: string, touchedAt: () => number): boolean;
}
