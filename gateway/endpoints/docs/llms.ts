import type { Contract } from '../../api/contract.ts';
import { CHANGELOG_PATH, LANGUAGE_PAGES, operationsOf, pagesOf } from './pages.ts';

/** What a language model reads first (llmstxt.org): where things stand, and each operation in one line. */
export function llmsText(contract: Contract): string {
  const { info, webhooks } = contract;
  const pages = [...pagesOf(contract), ...LANGUAGE_PAGES, { path: CHANGELOG_PATH, title: 'Changelog' }];
  const operations = pagesOf(contract).flatMap(({ path: page, tags }) =>
    tags.flatMap((tag) => [
      `### ${tag}`,
      ...operationsOf(contract, tag).map(
        ({ method, path, operation: { operationId, summary } }) =>
          `- [${method.toUpperCase()} ${path}](${page}#${operationId}): ${summary}`,
      ),
    ]),
  );
  return `# ${info.title}

> ${info.summary}

${info.description}

## Pages

- [OpenAPI 3.1](/openapi.json): every request, answer, problem and event, for programs
${pages.map(({ path, title }) => `- [${title}](${path})`).join('\n')}

## Operations

${operations.join('\n')}

## Events

${Object.entries(webhooks)
  .map(([name, { post }]) => `- ${name}: ${post.summary}`)
  .join('\n')}
`;
}
