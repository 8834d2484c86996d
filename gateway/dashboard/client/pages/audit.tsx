import type { EntryOf } from '../../../api/endpoint.ts';
import type { audit } from '../../../endpoints/audit/audit.ts';
import { usePages } from '../api/load.ts';
import { AccountLink, FilterAccount } from '../parts/account.tsx';
import { Dialog, useDialog } from '../parts/form.tsx';
import {
  type Column,
  FilterSelect,
  FilterText,
  FilterTime,
  ListPage,
  type ListPageProps,
  RowLink,
  Table,
  useUrlFilter,
} from '../parts/list.tsx';
import { Facts, Time } from '../parts/value.tsx';

const WHO = [
  ['user', 'Users'],
  ['key', 'API keys'],
  ['ops', 'Your service provider'],
] as const;

export function AuditPage() {
  const filter = useUrlFilter('actor', 'subject');
  return (
    <Entries
      title="Audit"
      lead="Who changed what of the account's settings, from where, and when."
      list={usePages<AuditEntry>('/v2/account/audit', filter.values)}
      filter={filter}
      filters={
        <>
          <FilterSelect filter={filter} name="actor" label="By" options={WHO} />
          <FilterText filter={filter} name="subject" label="What" placeholder="key:01k… or webhook:whk_…" />
        </>
      }
      who={whoOf}
      last={OUTCOME}
    />
  );
}

const OUTCOME: Column<AuditEntry> = {
  head: 'Outcome',
  cell: ({ outcome }) => (outcome === 'begun' ? 'perhaps done' : outcome),
};

/** `GET /v2/admin/audit` adds the account, which is null for operators. */
type AnyEntry = AuditEntry & { readonly account_id: string | null };

export function OperatorsAuditPage() {
  const filter = useUrlFilter('account_id', 'subject', 'since', 'until');
  return (
    <Entries
      title="Audit of everything"
      lead="Who changed what, from where, and when, in all accounts and carriers."
      list={usePages<AnyEntry>('/v2/admin/audit', filter.values)}
      filter={filter}
      filters={
        <>
          <FilterAccount filter={filter} />
          <FilterText filter={filter} name="subject" label="What" placeholder="carrier:airtel or key:01k…" />
          <FilterTime filter={filter} name="since" label="From" />
          <FilterTime filter={filter} name="until" label="Before" />
        </>
      }
      who={named}
      last={ACCOUNT}
    />
  );
}

const ACCOUNT: Column<AnyEntry> = {
  head: 'Account',
  cell: ({ account_id: id }) => (id === null ? '–' : <AccountLink id={id} />),
};

interface EntriesProps<T> extends Pick<ListPageProps<T>, 'title' | 'lead' | 'list' | 'filter' | 'filters'> {
  readonly who: (entry: AuditEntry) => string;
  readonly last: Column<T>;
}

function Entries<T extends AuditEntry>({ who, last, ...page }: EntriesProps<T>) {
  const [dialog, open] = useDialog();
  return (
    <ListPage
      {...page}
      caption="Audit"
      rowKey={({ audit_id }) => audit_id}
      icon="audit"
      empty="Nothing was changed yet."
      columns={[
        { head: 'When', cell: (row) => <Time at={row.at} /> },
        { head: 'Who', cell: who },
        { head: 'From', cell: ({ actor }) => actor.address ?? '–' },
        { head: 'What', cell: (row) => <RowLink onClick={() => open(<EntryDialog of={row} />)}>{row.action}</RowLink> },
        { head: 'Of', cell: (row) => <span title={row.subject.id ?? ''}>{subjectOf(row)}</span> },
        last,
      ]}
      after={dialog}
    />
  );
}

function EntryDialog({ of }: { readonly of: AuditEntry }) {
  const changes = changesOf(of);
  return (
    <Dialog title={of.action} side="right">
      <Facts
        facts={[
          ['When', <Time at={of.at} full />],
          ['Who', whoOf(of)],
          ['From', of.actor.address ?? '–'],
          ['Of', `${of.subject.kind} ${subjectOf(of)}`],
          ['Id', <code>{of.subject.id ?? '–'}</code>],
          ['Outcome', of.outcome === 'begun' ? 'perhaps done: the process stopped in between' : of.outcome],
          ['Times within the minute', of.times > 1 && String(of.times)],
        ]}
      />
      {changes.length === 0 ? (
        <p class="soft">No field differs.</p>
      ) : (
        <Table
          caption="What changed"
          rows={changes}
          rowKey={({ name }) => name}
          columns={[
            { head: 'Field', cell: ({ name }) => <code>{name}</code> },
            { head: 'Before', cell: ({ before }) => before },
            { head: 'After', cell: ({ after }) => after },
          ]}
        />
      )}
    </Dialog>
  );
}

type AuditEntry = EntryOf<typeof audit>;

function whoOf({ actor }: AuditEntry): string {
  return actor.kind === 'ops' ? 'your service provider' : named({ actor });
}

function named({ actor }: Pick<AuditEntry, 'actor'>): string {
  return actor.name ?? `${actor.kind} ${actor.id}`;
}

/** Fields that may hold the name of a stored thing. */
const NAMES = ['name', 'url', 'sender', 'username', 'number'] as const;

/** The name that the changed thing had then, or its id. */
function subjectOf({ subject, before, after }: AuditEntry): string {
  for (const state of [after, before]) {
    for (const member of NAMES) {
      const name = state?.[member];
      if (typeof name === 'string' && name !== '') return name;
    }
  }
  return (subject.id ?? subject.kind).replace(/:$/, '');
}

function changesOf({ before, after }: AuditEntry) {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names]
    .map((name) => ({ name, before: inWords(before?.[name]), after: inWords(after?.[name]) }))
    .filter((change) => change.before !== change.after);
}

function inWords(value: unknown): string {
  if (value === undefined || value === null) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
