/** The JSON report: parallel-orchestra's keys, ours beside them, and nothing alive in its text. */

import { expect, test } from 'vitest';
import {
  allSucceeded,
  deniedAndOutside,
  HOSTILE,
  hostile,
  interrupted,
  publishBlocked,
  redTogether,
  retriedOnce,
} from '../../test/support/runs.ts';
import { jsonText, reportJson } from './json.ts';

const INFO = { run: 'r1' };

test('readers of the older report find every key they know', () => {
  const report = reportJson(redTogether().state(), INFO);
  const { manifest, started_at, finished_at, duration_sec, total, succeeded, failed, skipped } =
    report;
  expect({
    manifest,
    started_at,
    finished_at,
    duration_sec,
    total,
    succeeded,
    failed,
    skipped,
    tasks: report.tasks.map((task) => ({
      id: task.id,
      agent: task.agent,
      status: task.status,
      duration_sec: task.duration_sec,
      retry_count: task.retry_count,
      failure_category: task.failure_category,
    })),
  }).toMatchInlineSnapshot(`
    {
      "duration_sec": 22,
      "failed": 1,
      "finished_at": "2026-07-01T12:00:22.000Z",
      "manifest": "accounts",
      "skipped": 1,
      "started_at": "2026-07-01T12:00:00.000Z",
      "succeeded": 1,
      "tasks": [
        {
          "agent": "claude",
          "duration_sec": 3,
          "failure_category": "none",
          "id": "users",
          "retry_count": 0,
          "status": "succeeded",
        },
        {
          "agent": "developer",
          "duration_sec": 3,
          "failure_category": "permanent",
          "id": "login",
          "retry_count": 0,
          "status": "failed",
        },
        {
          "agent": "claude",
          "duration_sec": 0,
          "failure_category": "permanent",
          "id": "docs",
          "retry_count": 0,
          "status": "skipped",
        },
      ],
      "total": 3,
    }
  `);
});

test('a retried task has both attempts, with their failures, exit codes and costs', () => {
  expect(reportJson(retriedOnce().state(), INFO)).toMatchInlineSnapshot(`
    {
      "base": "0001cccccccccccccccccccccccccccccccccccc",
      "branch": "landfast/r1",
      "broken_gate": null,
      "cancelled": 0,
      "cost_usd": 0.3,
      "duration_sec": 16,
      "failed": 0,
      "finished_at": "2026-07-01T12:00:16.000Z",
      "foreseen": [],
      "head": "0004cccccccccccccccccccccccccccccccccccc",
      "landed": [
        {
          "at": "2026-07-01T12:00:13.000Z",
          "commit": "0004cccccccccccccccccccccccccccccccccccc",
          "onto": "0001cccccccccccccccccccccccccccccccccccc",
          "order": 1,
          "task": "users",
          "work": "0002cccccccccccccccccccccccccccccccccccc",
        },
      ],
      "manifest": "accounts",
      "outcome": "succeeded",
      "publish": {
        "checkout": "followed",
        "commit": "0004cccccccccccccccccccccccccccccccccccc",
        "head": "0004cccccccccccccccccccccccccccccccccccc",
        "pending": false,
        "state": "finished",
        "target": "main",
      },
      "run": "r1",
      "skipped": 0,
      "started_at": "2026-07-01T12:00:00.000Z",
      "succeeded": 1,
      "target": "main",
      "tasks": [
        {
          "agent": "claude",
          "attempts": [
            {
              "attempt": 1,
              "base": "0001cccccccccccccccccccccccccccccccccccc",
              "cost_usd": 0.1,
              "denied": [],
              "duration_sec": 3,
              "exit_code": 1,
              "failure": {
                "kind": "rate-limited",
                "message": "Too many requests.",
              },
              "files": [],
              "finished_at": "2026-07-01T12:00:04.000Z",
              "outside": [],
              "start": "fresh",
              "started_at": "2026-07-01T12:00:01.000Z",
              "status": null,
              "strayed": [],
              "structured": null,
              "text": "",
              "tokens": {
                "input": 1000,
                "output": 100,
              },
            },
            {
              "attempt": 2,
              "base": "0001cccccccccccccccccccccccccccccccccccc",
              "cost_usd": 0.2,
              "denied": [],
              "duration_sec": 3,
              "exit_code": 0,
              "failure": null,
              "files": [
                "src/users.ts",
              ],
              "finished_at": "2026-07-01T12:00:10.000Z",
              "outside": [],
              "start": "continue",
              "started_at": "2026-07-01T12:00:07.000Z",
              "status": null,
              "strayed": [],
              "structured": null,
              "text": "Done.",
              "tokens": {
                "input": 1000,
                "output": 100,
              },
            },
          ],
          "branch": null,
          "commit": "0004cccccccccccccccccccccccccccccccccccc",
          "cost_usd": 0.3,
          "denied": [],
          "doubt": null,
          "duration_sec": 6,
          "failed": null,
          "failure": null,
          "failure_category": "none",
          "gates": [
            {
              "by": null,
              "gate": "tests",
              "ms": 3200,
              "ok": true,
              "on": "candidate",
              "output": "",
              "quarantined": false,
              "spared": null,
              "tree": "0003cccccccccccccccccccccccccccccccccccc",
            },
          ],
          "id": "users",
          "mode": "write",
          "needs": [],
          "outside": [],
          "program": "claude",
          "proved": null,
          "pushed": null,
          "rejections": [],
          "remedy": null,
          "resumed": false,
          "retry_count": 1,
          "reworks": 0,
          "session": "session-of-users",
          "settled": [],
          "state": "landed",
          "status": "succeeded",
          "tokens": {
            "input": 2000,
            "output": 200,
          },
          "workspace": {
            "branch": "landfast/r1.users",
            "kept_why": null,
            "state": "live",
          },
        },
      ],
      "tokens": {
        "input": 2000,
        "output": 200,
      },
      "total": 1,
      "unfinished": 0,
      "unreliable_gates": [],
    }
  `);
});

test('a task that did not land says why, where its work is and what to do', () => {
  const task = reportJson(redTogether().state(), INFO).tasks[1];
  expect({
    failure: task?.failure,
    remedy: task?.remedy,
    gates: task?.gates,
    workspace: task?.workspace,
  }).toMatchInlineSnapshot(`
    {
      "failure": {
        "command": "npm test",
        "exit_code": 1,
        "gate": "tests",
        "kind": "gate-failed",
        "landed_since": [
          "users",
        ],
        "message": "Gate tests is red on the combination.",
        "output": "FAIL test/auth.test.ts
      expected 200, got 500
    (exit code 1)",
      },
      "gates": [
        {
          "by": null,
          "gate": "tests",
          "ms": 3200,
          "ok": false,
          "on": "candidate",
          "output": "FAIL test/auth.test.ts
      expected 200, got 500
    (exit code 1)",
          "quarantined": false,
          "spared": null,
          "tree": "0006cccccccccccccccccccccccccccccccccccc",
        },
        {
          "by": null,
          "gate": "tests",
          "ms": 1600,
          "ok": true,
          "on": "alone",
          "output": "",
          "quarantined": false,
          "spared": null,
          "tree": "0007cccccccccccccccccccccccccccccccccccc",
        },
      ],
      "remedy": {
        "command": "git diff HEAD...landfast/r1.login",
        "text": "Review the change, fix it on its branch, commit, then resume: your commit becomes the work.",
      },
      "workspace": {
        "branch": "landfast/r1.login",
        "kept_why": "its work has not landed",
        "state": "kept",
      },
    }
  `);
});

test('landings are listed in their order', () => {
  const { landed } = reportJson(allSucceeded().state(), INFO);
  expect(landed.map(({ order, task }) => [order, task])).toEqual([
    [1, 'users'],
    [2, 'login'],
    [3, 'docs'],
  ]);
});

test('denied tools are counted and files outside the scope are named', () => {
  const { tasks } = reportJson(deniedAndOutside().state(), INFO);
  expect(tasks.map(({ id, denied, outside }) => ({ id, denied, outside }))).toEqual([
    {
      id: 'review',
      denied: [
        { tool: 'Bash', times: 2 },
        { tool: 'WebFetch', times: 1 },
      ],
      outside: [],
    },
    { id: 'users', denied: [], outside: ['README.md'] },
  ]);
});

test('an interrupted run has unfinished tasks and something left to publish', () => {
  const report = reportJson(interrupted().state(), INFO);
  expect({
    outcome: report.outcome,
    statuses: report.tasks.map(({ status }) => status),
    unfinished: report.unfinished,
    publish: report.publish,
  }).toEqual({
    outcome: 'interrupted',
    statuses: ['succeeded', 'unfinished', 'unfinished'],
    unfinished: 2,
    publish: { state: 'none', pending: true },
  });
});

test('a blocked publication comes with its remedy', () => {
  expect(reportJson(publishBlocked().state(), INFO).publish).toEqual({
    state: 'blocked',
    pending: true,
    head: 'a'.repeat(40),
    why: 'src/users.ts has changes of yours that are not committed.',
    remedy: 'git stash && git merge --ff-only landfast/r1 && git stash pop',
  });
});

test('keys are in snake case throughout', () => {
  const keys = [...jsonText(reportJson(hostile().state(), INFO)).matchAll(/^ *"([^"]+)":/gm)];
  expect(keys.map(([, key]) => key).filter((key) => !/^[a-z_]+$/.test(key ?? ''))).toEqual([]);
});

test('the text of the report holds no live control and loses nothing', () => {
  const text = jsonText({ hostile: HOSTILE });
  expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
  expect(JSON.parse(text)).toEqual({ hostile: HOSTILE });
});
