/**
 * The declarations of the library: one file, dist/index.d.ts, rolled up from what tsc emits, and the
 * report of the public API, docs/api/landfast.api.md. With `--check` a report that differs is an error
 * and nothing in the project is written: a change of the API is a visible act. `--out` names another
 * folder for the declarations.
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Extractor, ExtractorConfig, type ExtractorLogLevel } from '@microsoft/api-extractor';

const root = join(import.meta.dirname, '..');
const { values: given } = parseArgs({
  options: { check: { type: 'boolean', default: false }, out: { type: 'string' } },
});
const isCheck = given.check;
const made = mkdtempSync(join(tmpdir(), 'landfast-types-'));
try {
  emitDeclarations(made);
  const { succeeded, apiReportChanged } = rollUp(made);
  if (isCheck && apiReportChanged) {
    console.error('The public API differs from docs/api/landfast.api.md.');
    console.error('If that is meant: npm run types, and a line in CHANGELOG.md.');
  }
  process.exitCode = succeeded && !(isCheck && apiReportChanged) ? 0 : 1;
} finally {
  rmSync(made, { recursive: true, force: true });
}

function emitDeclarations(folder: string): void {
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const flags = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly'];
  const places = ['--rootDir', join(root, 'src'), '--outDir', join(folder, 'emitted')];
  const options = { ...sharedOptions(), allowImportingTsExtensions: true };
  const typeRoots = [join(root, 'node_modules', '@types')];
  const files = [join(root, 'src', 'index.ts')];
  const config = join(folder, 'tsconfig.json');
  writeFileSync(config, JSON.stringify({ compilerOptions: { ...options, typeRoots }, files }));
  execFileSync(tsc, ['-p', config, ...flags, ...places], { cwd: root, stdio: 'inherit' });
}

function sharedOptions() {
  return {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    skipLibCheck: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
  };
}

function rollUp(folder: string) {
  const reports = join(root, 'docs', 'api');
  mkdirSync(reports, { recursive: true });
  const compilerOptions = {
    ...sharedOptions(),
    target: 'es2022',
    lib: ['es2023', 'esnext.disposable'],
  };
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: join(folder, 'emitted', 'index.d.ts'),
      compiler: {
        overrideTsconfig: {
          compilerOptions: { ...compilerOptions, allowImportingTsExtensions: true, noEmit: true },
          files: [join(folder, 'emitted', 'index.d.ts')],
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: 'landfast.api.md',
        reportFolder: reports,
        reportTempFolder: join(folder, 'report'),
        includeForgottenExports: true,
      },
      dtsRollup: {
        enabled: true,
        untrimmedFilePath: join(given.out ?? (isCheck ? folder : join(root, 'dist')), 'index.d.ts'),
      },
      docModel: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: 'error' as ExtractorLogLevel } },
        extractorMessageReporting: {
          default: { logLevel: 'warning' as ExtractorLogLevel },
          'ae-missing-release-tag': { logLevel: 'none' as ExtractorLogLevel },
          'ae-forgotten-export': { logLevel: 'none' as ExtractorLogLevel },
          'ae-undocumented': { logLevel: 'none' as ExtractorLogLevel },
        },
        tsdocMessageReporting: { default: { logLevel: 'none' as ExtractorLogLevel } },
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, 'package.json'),
  });
  return Extractor.invoke(config, {
    localBuild: !isCheck,
    showVerboseMessages: false,
    messageCallback: (message) => {
      if (message.messageId.startsWith('console-')) message.logLevel = 'none' as ExtractorLogLevel;
    },
  });
}
