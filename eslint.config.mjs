import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'coverage/', 'node_modules/', '**/*.js', '**/*.cjs', '**/*.mjs'] },
  eslint.configs.recommended,
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        project: [
          './tsconfig.json',
          './tests/tsconfig.json',
          './examples/tsconfig.json',
          './console/tsconfig.json',
        ],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/require-await': 'off',
      // The types of Node 24 declare them; Node 22, the oldest that package.json allows, has none of them.
      'no-restricted-globals': [
        'error',
        'DisposableStack',
        'AsyncDisposableStack',
        'SuppressedError',
        'Float16Array',
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Promise', property: 'try' },
        { object: 'RegExp', property: 'escape' },
        { object: 'Error', property: 'isError' },
        { object: 'Math', property: 'f16round' },
      ],
      // Half a surrogate pair is not valid text: contracts/text/well-formed.ts cuts texts.
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'CallExpression[callee.property.name=/^(slice|substring|substr)$/] Identifier[name=/^(?!HASH|MARK|ID_|STATE|SHORT|MESSAGE_ID)[A-Z_]*(CHARS|CHARACTERS)$/]',
          message: 'Cut text with beginningOf, endOf or shortened of contracts/text/well-formed.ts.',
        },
        {
          selector: 'Literal[regex.pattern=/^\\^.*\\\\u[Dd][89A-Fa-f]|\\\\u[Dd][89A-Fa-f][^$]*\\$$/]',
          message: 'Cut text with beginningOf, endOf or shortened of contracts/text/well-formed.ts.',
        },
      ],
      'max-lines': ['error', { max: 400 }],
      'max-params': ['error', { max: 4 }],
      'max-lines-per-function': ['error', { max: 60 }],
    },
  },
  // A `describe` is a chapter, and a script in a test stands in one piece.
  { files: ['tests/**', 'examples/**'], rules: { 'max-lines-per-function': 'off' } },
);
