import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Empty, NoResults } from '../../parts/empty.tsx';
import { FilterBar, FilterSelect } from '../../parts/filter.tsx';
import { number } from '../../parts/number.ts';
import { PageHead } from '../../parts/page.tsx';
import { SecretDialog } from '../../parts/secret.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useUrlFilter } from '../../parts/url-filter.ts';
import { CreateKeyDialog } from './create-key.tsx';
import { type CreatedKey, curlOf, type Key, STATE_TONES } from './key.ts';
import { KeyPanel } from './key-panel.tsx';

/** The keys with which programs use the API. */
export function KeysPage() {
  const filter = useUrlFilter('state');
  const list = usePages<Key>('/v2/account/keys', filter.values);
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<CreatedKey>();
  const [shown, setShown] = useState<string>();
  const key = list.rows?.find(({ key_id }) => key_id === shown);
  const create = may('manage') && (
    <Button look="primary" icon="plus" onClick={() => setCreating(true)}>
      Create key
    </Button>
  );
  const show = (now: CreatedKey) => {
    setCreating(false);
    setShown(undefined);
    setMade(now);
    list.reload();
  };
  return (
    <>
      <PageHead
        title="API keys"
        lead="With a key, your programs send messages and read what became of them."
        actions={create}
      />
      <FilterBar filter={filter}>
        <FilterSelect
          filter={filter}
          name="state"
          label="Status"
          options={[
            ['active', 'Active'],
            ['expired', 'Expired'],
            ['revoked', 'Revoked'],
          ]}
        />
      </FilterBar>
      <PagedTable
        list={list}
        caption="API keys"
        rowKey={({ key_id }) => key_id}
        empty={filter.isSet ? <NoResults clear={filter.clear} /> : <NoKeys create={create} />}
        columns={[
          {
            head: 'Name',
            cell: ({ key_id, name }) => (
              <button type="button" class="row-link" onClick={() => setShown(key_id)}>
                {name}
              </button>
            ),
          },
          { head: 'Kind', cell: ({ test }) => (test ? <Badge tone="warn">test</Badge> : 'live') },
          { head: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
          { head: 'Status', cell: ({ state }) => <Badge tone={STATE_TONES[state]}>{state}</Badge> },
          { head: 'Made', cell: (row) => <Time at={row.created_at} /> },
          { head: 'Expires', cell: (row) => <Time at={row.expires_at} none="never" /> },
          { head: 'Last used', cell: (row) => <Time at={row.last_used} none="never" /> },
          { head: 'From', cell: ({ last_address }) => last_address ?? '–' },
          { head: 'In 24 hours', kind: 'number', cell: (row) => number(row.requests_24h) },
        ]}
      />
      {creating && <CreateKeyDialog onClose={() => setCreating(false)} onCreated={show} />}
      {made && (
        <SecretDialog
          name="API key"
          text={made.key}
          hint="Store it where your program reads its secrets."
          onDone={() => setMade(undefined)}
        >
          <p>Try it:</p>
          <CodeBlock text={curlOf(made.key, made.scopes)} label="curl" />
        </SecretDialog>
      )}
      {key && <KeyPanel of={key} onClose={() => setShown(undefined)} onChange={list.reload} onRotated={show} />}
    </>
  );
}

function NoKeys({ create }: { readonly create: ComponentChildren }) {
  const next = (
    <>
      {create}
      <a href="/docs">How to send with it</a>
    </>
  );
  return (
    <Empty icon="key" action={next}>
      No keys yet. Create one to send your first message.
    </Empty>
  );
}
