/** Imports point one way: each folder may import only from those that stand above it in this list. */
const order = [
  'contract',
  'policy',
  'redact',
  'launch',
  'capture',
  'evidence',
  'verify',
  'retention',
  'gate',
  'rollout',
  'audit',
  'interop',
  'report',
  'executor',
  'action|cli',
];

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    ...order.map((folder, index) => ({
      name: `${folder}-imports-up-only`,
      severity: 'error',
      from: { path: `^src/(${folder})/` },
      to: { path: `^src/(${order.slice(index + 1).join('|') || 'none'})/` },
    })),
    {
      name: 'cli-and-action-apart',
      severity: 'error',
      from: { path: '^src/(cli|action)/' },
      to: { path: '^src/(cli|action)/', pathNot: '^src/$1/' },
    },
    {
      name: 'koffi-in-launch-only',
      severity: 'error',
      from: { pathNot: '^src/launch/linux/' },
      to: { path: 'node_modules/koffi' },
    },
    {
      name: 'public-face',
      comment: "A folder's index.ts is its whole public face; contract's lazily loaded parts are named.",
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: { path: '^src/([^/]+)/', pathNot: ['^src/$1/', '/index\\.ts$', '^src/contract/', '^src/policy/parse\\.ts$'] },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^node_modules' },
  },
};
