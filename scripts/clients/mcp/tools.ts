import type { Contract } from '../../../gateway/api/contract.ts';
import type { Schema } from '../../../gateway/http/fields/field.ts';
import { type Api, apiOf, type Call, nameOf } from '../calls.ts';

/** Reading tools and the client calls behind them; fields and texts come from the gateway's document. */
const READS = {
  search_messages: 'messages.list',
  explain_message: 'messages.get',
  list_events: 'events.list',
  list_batches: 'batches.list',
  explain_batch: 'batches.get',
  list_batch_failures: 'batches.failures',
  list_schedules: 'schedules.list',
  account_overview: 'account.overview',
  account_statistics: 'account.statistics',
  account_limits: 'account.limits',
  list_ledger: 'ledger.list',
  list_senders: 'senders.list',
  list_sms_templates: 'sms.templates',
  list_chat_templates: 'chatapp.templates',
  check_template: 'templates.check',
  dry_run_sms: 'sms.sendDryRun',
  dry_run_chat_template: 'chatapp.sendDryRun',
  dry_run_chat_text: 'chatapp.sendTextDryRun',
} as const;

/** Only with `--send`, and after a person has agreed to the dry run. */
const SENDS = {
  send_sms: 'sms.send',
  send_chat_template: 'chatapp.send',
  send_chat_text: 'chatapp.sendText',
} as const;

export interface Tool {
  readonly name: string;
  readonly about: string;
  /** JSON Schema of the arguments: path parameters, query and body in one object. */
  readonly takes: Schema;
  readonly call: Call;
  readonly dryRun: Call | undefined;
}

/** The tools that the gateway's document allows; another version may lack some. */
export function toolsOf(contract: Contract, { send }: { readonly send: boolean }): Tool[] {
  const api = apiOf(contract);
  return Object.entries({ ...READS, ...(send && SENDS) }).flatMap(([name, wanted]) => {
    const call = callNamed(api, wanted);
    if (call === undefined) return [];
    const isSend = Object.hasOwn(SENDS, name);
    return [
      {
        name,
        about: aboutOf(contract, call),
        takes: schemaOf(api, call),
        call,
        dryRun: isSend ? callNamed(api, `${wanted}DryRun`) : undefined,
      },
    ];
  });
}

function callNamed({ groups }: Api, wanted: string): Call | undefined {
  const [group = '', name] = wanted.split('.');
  return groups.get(group)?.find((one) => one.name === name);
}

function aboutOf(contract: Contract, { method, path, about }: Call): string {
  const { description = '' } = contract.paths[path]?.[method.toLowerCase()] ?? {};
  return `${about} ${description}`;
}

function schemaOf({ types }: Api, { parts, query, bodies }: Call): Schema {
  const [asked = {}] = [query?.type, ...bodies].flatMap((name) => types.get(name ?? '') ?? []);
  const { properties = {}, required = [] } = inlined(asked, types);
  const inPath = Object.fromEntries(parts.map((part) => [part, { type: 'string' }]));
  return {
    type: 'object',
    properties: { ...inPath, ...properties },
    required: [...parts, ...required],
    additionalProperties: false,
  };
}

/** Replaces references by their schemas. No request contains itself, so this ends. */
function inlined(schema: Schema, types: ReadonlyMap<string, Schema>): Schema {
  return JSON.parse(
    JSON.stringify(schema, (_, value) => {
      const ref: unknown = value?.$ref;
      return typeof ref === 'string' ? types.get(nameOf(ref)) : value;
    }),
  );
}
