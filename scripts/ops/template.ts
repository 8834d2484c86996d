import { ROUTES } from '../../shared/messages/document/routing.ts';
import { ENCODINGS } from '../../shared/platform/sheets/parse.ts';
import type { CsvProblem } from '../../shared/templates/sms/csv.ts';
import { type ImportedCsv, importTemplateCsv, type UnusableSender } from '../../shared/templates/sms/import-csv.ts';
import { createTemplate, setTemplatePaused, TemplateExists } from '../../shared/templates/sms/store.ts';
import {
  type NewTemplate,
  routesOfSenders,
  type TemplateDocument,
  templateFaults,
  templateVersion,
} from '../../shared/templates/sms/template.ts';
import { perform, type Told } from './act.ts';
import { recordText, table } from './answer-text.ts';
import {
  accountId,
  type Command,
  choice,
  defineCommand,
  Failure,
  flag,
  list,
  name,
  optional,
  required,
  withDefault,
  words,
} from './command.ts';
import { readOctets } from './input.ts';
import { existing } from './owners.ts';

const account = required(accountId, 'the account');
const dltId = words('ID', '10 to 20 digits', /^[0-9]{10,20}$/);
const template = required(dltId, 'its id on the DLT platform');
const text = words('TEXT', 'text', /^[\s\S]+$/);
/** Bad rows shown at most. */
const SHOWN_PROBLEMS = 50;
type Imported = Extract<ImportedCsv, { readonly kind: 'imported' }>;

export const TEMPLATE_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'template',
    verb: 'create',
    about: 'Registers a DLT template to an account.',
    args: { account, template },
    options: {
      content: required(text, 'exactly as registered, slots as {#var#}'),
      senders: required(words('SENDERS', 'senders with commas', /^.+$/), 'the headers that may send it'),
      name: optional(name, 'a name for people; default: its id'),
      routes: optional(list('ROUTES', ROUTES), 'where it may be sent; default by its senders: promotional for digits'),
      entityId: optional(dltId, "PE id of the business, when it is not the account's"),
      status: withDefault(choice(['approved', 'submitted']), 'approved', 'whether the operators have approved it'),
    },
    async run({ account, template, content, senders: given, name, routes, entityId, status }, { db, clock }) {
      const senders = [...new Set(given.split(',').map((sender) => sender.trim()))];
      const made: NewTemplate = {
        dltId: template,
        name: name ?? template,
        senders,
        routes: routes ?? routesOfSenders(senders),
        content,
        status,
        entityId,
      };
      const faults = templateFaults(made).map(({ field, detail }) => `${field}: ${detail}`);
      if (faults.length > 0) throw new Failure(`Not created. ${faults.join(' ')}`);
      const store = await db();
      await existing(store, account);
      try {
        const created = await createTemplate(store, clock, account, made);
        return {
          text: `${template} is ${status} for ${senders.join(', ')} (${created.routes.join(', ')}).`,
          json: view(created),
        };
      } catch (error) {
        if (error instanceof TemplateExists) throw new Failure(`${template} is registered to ${account} already.`);
        throw error;
      }
    },
  }),
  pause('pause', true, 'Holds the messages of a template, those that are accepted now too, until it is resumed.'),
  pause('resume', false, 'Lets the messages of a paused template leave.'),
  defineCommand({
    noun: 'template',
    verb: 'import',
    about: "Registers the templates of an operator's export. If any row is bad, nothing is registered.",
    args: { account, file: required(words('FILE', 'a file', /^.+$/), 'CSV with columns for id, header and content') },
    options: {
      routes: optional(list('ROUTES', ROUTES), "for all rows; default: by each row's category and header"),
      encoding: optional(choice(ENCODINGS), 'encoding of the file; UTF-8 and UTF-16 are detected'),
      skipBad: flag('import the good rows although others are bad'),
      update: flag('change registered templates of which the file says something else'),
    },
    notes:
      'May be repeated. Registered templates of which the file says something else are named with the old and the new, and stay as they are without --update. Rows without a status are approved. It lists headers that the account does not have; their templates are registered anyway. Exit code 1 when a row was left out, a change was not made, or the file could not be read.',
    async run({ account, file, routes, encoding, skipBad, update }, { db, clock }) {
      const octets = await readOctets(file);
      const store = await db();
      const owner = await existing(store, account);
      const options = {
        ...{ skipBad, update },
        ...(routes === undefined ? {} : { routes }),
        ...(encoding === undefined ? {} : { encoding }),
      };
      const imported = await importTemplateCsv(store, clock, owner, octets, options);
      if (imported.kind === 'unreadable') throw new Failure(`Nothing was imported. ${file}: ${imported.detail}`);
      const { problems, badRows } = imported;
      if (imported.kind === 'refused') {
        throw new Failure(
          `Nothing was imported. Bad rows: ${badRows} (--skip-bad leaves them out).\n${shown(problems, badRows).join('\n')}`,
        );
      }
      const { created, known, changed, changedCount, updated, stillSent, unusable } = imported;
      const done = `${created.length} templates are registered, ${known.length} were there already, ${badRows} rows were left out.`;
      return {
        text: [
          ...[done, ...shown(problems, badRows)],
          ...changesShown(imported, update),
          ...unusableShown(account, unusable),
        ].join('\n'),
        json: {
          ...{ created, known, problems, bad_rows: badRows },
          ...{ changed, changed_count: changedCount, updated, still_sent: stillSent, unusable_senders: unusable },
        },
        ok: badRows === 0 && updated === changedCount,
      };
    },
  }),
];

function pause(verb: string, paused: boolean, about: string): Command {
  return defineCommand({
    noun: 'template',
    verb,
    about,
    args: { account, template },
    options: {},
    async run({ account, template }, { db }) {
      const store = await db();
      await existing(store, account);
      if (!(await setTemplatePaused(store, account, template, paused))) throw noTemplate(account, template);
      return { text: `${template} is ${paused ? 'paused' : 'resumed'}.`, json: { account, template, paused } };
    },
  });
}

function noTemplate(account: string, template: string): Failure {
  return new Failure(`${account} has no template ${template}: \`template list ${account}\` shows them.`);
}

function shown(problems: readonly CsvProblem[], count: number): readonly string[] {
  const lines = problems.slice(0, SHOWN_PROBLEMS).map(({ line, detail }) => `line ${line}: ${detail}`);
  return count > lines.length ? [...lines, `and ${count - lines.length} more`] : lines;
}

/** Registered templates that differ from the file, row by row. */
function changesShown({ changed, changedCount, updated, stillSent }: Imported, update: boolean): readonly string[] {
  if (changedCount === 0) return [];
  const rows = changed.slice(0, SHOWN_PROBLEMS).map(({ line, dltId, changes }) => {
    const all = changes.map(({ field, old, new: now }) => `${field}: ${around(old, now)} → ${around(now, old)}`);
    return `line ${line}: ${dltId}: ${all.join('; ')}`;
  });
  if (changedCount > rows.length) rows.push(`and ${changedCount - rows.length} more`);
  const unchanged = changedCount - updated;
  const made = update ? `${updated} registered templates were changed:` : '';
  const left = update
    ? `${unchanged} of them changed meanwhile and stay as they are: import the file again.`
    : `The file says something else of ${changedCount} registered templates. They stay as they are; --update changes them:`;
  const warning = `WARNING: the DLT platform allows ${stillSent.length} of them no more, and they are still sent: --update stops them.`;
  return [
    '',
    ...(update ? [made] : [left]),
    ...rows,
    ...(update && unchanged > 0 ? [left] : []),
    ...(stillSent.length > 0 ? [warning] : []),
  ];
}

/** A text, or the part of a long one around the first difference. */
function around(text: string, other: string): string {
  const at = [...text].findIndex((sign, i) => sign !== [...other][i]);
  const start = Math.max(0, at - AROUND);
  const piece = [...text].slice(start, start + 3 * AROUND).join('');
  return `${start > 0 ? '…' : ''}${JSON.stringify(piece)}${start + 3 * AROUND < text.length ? '…' : ''}`;
}
const AROUND = 30;

/** The unusable headers, each with the command that makes its templates usable. */
function unusableShown(account: string, unusable: readonly UnusableSender[]): readonly string[] {
  if (unusable.length === 0) return [];
  const rows = unusable.map(({ sender, rows, status }) => [
    sender,
    String(rows),
    status,
    `sender ${status === 'not registered' ? 'create' : 'approve'} ${account} ${sender}`,
  ]);
  return [
    '',
    `WARNING: ${account} may not use ${unusable.length} headers of this file yet. Until it may, messages with their templates are refused:`,
    table(['HEADER', 'ROWS', 'STATUS', 'NEXT'], rows, ''),
  ];
}

function view(template: TemplateDocument): unknown {
  const { dltId, name, senders, routes, entityId, content, status, reason } = template;
  return {
    template: dltId,
    name,
    status,
    senders,
    routes,
    entity_id: entityId ?? null,
    content,
    reason: reason ?? null,
    version: templateVersion(template),
  };
}

export const CHAT_TEMPLATE_COMMAND: Command = defineCommand({
  noun: 'chat-template',
  verb: 'show',
  about:
    'Shows what a chat-app template consists of, and what stands at each place of its params; of each business account that has it.',
  args: {
    account: required(accountId, 'the account'),
    template: required(words('TEMPLATE', 'a name as `chat-template list` shows it', /^.+$/), 'the template'),
    language: required(words('LANGUAGE', 'a code like en_US', /^.+$/), 'its language'),
  },
  options: {},
  isEndpoint: true,
  async run({ account, template, language }, context) {
    const owner = await existing(await context.db(), account);
    const found: Told[] = [];
    for (let cursor: Told = {}; cursor !== undefined; ) {
      const query = { language, limit: '500', ...cursor };
      const page = await perform(context, 'ownChatTemplates', { query }, owner);
      found.push(...page.data.filter(({ name }: Told) => name === template));
      cursor = page.next_cursor === null ? undefined : { cursor: page.next_cursor };
    }
    if (found.length === 0) {
      throw new Failure(
        `There is no template ${template} in ${language}. \`chat-template list ${account}\` shows all.`,
      );
    }
    return { text: found.map(chatTemplateText).join('\n\n'), json: found };
  },
});

/** One line for each place of `params`, because a send counts them. */
function chatTemplateText({ params, header, ...one }: Told): string {
  const places = params.map((place: string, at: number) => [`params[${at}]`, place]);
  return recordText({ ...one, header: header?.text ?? header?.format ?? null, ...Object.fromEntries(places) });
}
