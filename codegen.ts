import type { CodegenConfig } from '@graphql-codegen/cli';

/** Typed documents for the tests, from schema.graphql and the operations written beside them. */
const config: CodegenConfig = {
  schema: 'schema.graphql',
  documents: ['test/**/*.ts', '!test/generated/**'],
  ignoreNoDocuments: true,
  generates: {
    'test/generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        useTypeImports: true,
        enumsAsTypes: true,
        importExtension: '.ts',
        emitLegacyCommonJSImports: false,
        strictScalars: true,
        scalars: { DateTime: 'string', UUID: 'string', JSONObject: 'Record<string, unknown>' },
      },
    },
  },
};

// oxlint-disable-next-line import/no-default-export -- the tool reads the default export
export default config;
