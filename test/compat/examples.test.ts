/** The shortest plans that the documents of the other tools show, as their users first meet them. */

import { expect, test } from 'vitest';
import { parsePlan } from '../../src/plan/parse.ts';
import { planInput } from '../support/plan-input.ts';

function outline(path: string, text: string) {
  const { plan, format, problems } = parsePlan(planInput(path, text), null);
  const tasks = plan?.tasks.map(({ id, role, needs }) => ({ id, role, needs }));
  return { format, errors: problems.filter(({ severity }) => severity === 'error'), tasks };
}

test('a manifest of two tasks, the second after the first, with notes below', () => {
  const text = `---
po_plan_version: "0.1"
name: "my-plan"
cwd: "."
tasks:
  - id: feature-a
    agent: developer
    read_only: false
    prompt: |
      Build it: …
  - id: feature-b
    agent: developer
    read_only: false
    depends_on:
      - feature-a
    prompt: |
      …
---
# Notes for people

Nobody reads on from here.
`;
  expect(outline('plan.md', text)).toEqual({
    format: 'po-manifest',
    errors: [],
    tasks: [
      { id: 'feature-a', role: 'developer', needs: [] },
      { id: 'feature-b', role: 'developer', needs: ['feature-a'] },
    ],
  });
});

const DISPATCH = `\`\`\`json dispatch
{
  "plan_id": "my-feature",
  "batches": [
    {
      "id": 1,
      "description": "Build it",
      "parallel": true,
      "agents": [
        { "subagent_type": "code-writer", "prompt": "…" },
        { "subagent_type": "test-writer", "prompt": "…" }
      ]
    },
    {
      "id": 2,
      "description": "Review and commit",
      "parallel": false,
      "agents": [{ "subagent_type": "commit", "prompt": "…" }]
    }
  ]
}
\`\`\`
`;

test('a dispatch block of a parallel batch and one that commits', () => {
  expect(outline('plan.md', DISPATCH)).toEqual({
    format: 'cast-dispatch',
    errors: [],
    tasks: [
      { id: 'b1-code-writer', role: 'code-writer', needs: [] },
      { id: 'b1-test-writer', role: 'test-writer', needs: [] },
      { id: 'b2-commit', role: 'commit', needs: ['b1-code-writer', 'b1-test-writer'] },
    ],
  });
});

test('the same block shown inside of a longer fence is an example, not a plan', () => {
  const { format } = outline('readme.md', `\`\`\`\`markdown\n${DISPATCH}\`\`\`\`\n`);
  expect(format).toBeNull();
});
