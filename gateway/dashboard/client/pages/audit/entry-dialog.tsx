import { Dialog } from '../../parts/dialog.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { type AuditEntry, changesOf, subjectOf, whoOf } from './audit-entry.ts';

/** One change: who, from where, what, before and after. */
export function EntryDialog({ of, onClose }: { readonly of: AuditEntry; readonly onClose: () => void }) {
  const changes = changesOf(of);
  return (
    <Dialog title={of.action} side="right" onClose={onClose}>
      <Facts
        facts={[
          ['When', <Time at={of.at} full />],
          ['Who', whoOf(of)],
          ['From', of.actor.address ?? '–'],
          ['Of', `${of.subject.kind} ${subjectOf(of)}`],
          ['Id', <code>{of.subject.id ?? '–'}</code>],
          ['Outcome', of.outcome === 'begun' ? 'perhaps done: the process stopped in between' : of.outcome],
          ...(of.times > 1 ? [['Times within the minute', String(of.times)] as const] : []),
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
