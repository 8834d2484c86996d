import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { AnswerOf, EntryOf } from '../../../../../api/endpoint.ts';
import type {
  changeAccount,
  listAccounts,
  newAccount,
  showAccount,
} from '../../../../../endpoints/accounts/accounts.ts';
import { create } from '../../../api/http.ts';
import { usePages } from '../../../api/pages.ts';
import { may } from '../../../api/session.ts';
import { AddButton } from '../../../parts/button.tsx';
import { FormDialog, toast, useDialog } from '../../../parts/dialog.tsx';
import { DltIdField, Field, Select } from '../../../parts/field.tsx';
import { FilterBar, FilterSelect, FilterText, useUrlFilter } from '../../../parts/filter.tsx';
import type { FormValues } from '../../../parts/form.tsx';
import { Empty, PageHead } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/table.tsx';
import { Badge, number, Time, type Tone } from '../../../parts/value.tsx';

/** As `GET /v2/admin/accounts` shows it. */
type Account = EntryOf<typeof listAccounts>;

/** As `GET /v2/admin/accounts/{account_id}` shows it. */
export type AccountDetail = AnswerOf<typeof showAccount>;

/** The answer to each change of one. */
export type ChangedAccount = AnswerOf<typeof changeAccount>;

export const STATUS_TONES: Readonly<Record<Account['status'], Tone>> = {
  active: 'good',
  paused: 'warn',
  suspended: 'bad',
  closed: 'plain',
};

const STATUSES = [
  ['active', 'Active'],
  ['paused', 'Paused'],
  ['suspended', 'Suspended'],
] as const;

/** All accounts of the installation. */
export function AccountsPage() {
  const filter = useUrlFilter('search', 'status');
  const list = usePages<Account>('/v2/admin/accounts', filter.values);
  const [dialog, open] = useDialog();
  const create = may('admin:support') && (
    <AddButton onClick={() => open(<CreateAccountDialog />)}>Create account</AddButton>
  );
  return (
    <>
      <PageHead title="Accounts" lead="The customers of this installation." actions={create} />
      <FilterBar filter={filter}>
        <FilterText filter={filter} name="search" label="Name or id" placeholder="Asha, acc_01k…" />
        <FilterSelect filter={filter} name="status" label="Status" options={STATUSES} />
      </FilterBar>
      <PagedTable
        list={list}
        caption="Accounts"
        rowKey={({ account_id }) => account_id}
        filter={filter}
        empty={<Empty icon="accounts">No accounts yet. Create one, then top it up.</Empty>}
        columns={[
          { head: 'Name', cell: (row) => <a href={`/dashboard/admin/accounts/${row.account_id}`}>{row.name}</a> },
          { head: 'Status', cell: ({ status }) => <Badge tone={STATUS_TONES[status]}>{status}</Badge> },
          { head: 'Credits', kind: 'number', cell: ({ balance }) => number(balance) },
          { head: 'Until', cell: ({ expiry_date }) => expiry_date },
          { head: 'Made', cell: (row) => <Time at={row.created_at} /> },
        ]}
      />
      {dialog}
    </>
  );
}

function CreateAccountDialog() {
  const { route } = useLocation();
  const [dlt, setDlt] = useState('off');
  const make = async (values: FormValues) => {
    const { account, warnings } = await create<AnswerOf<typeof newAccount>>('/v2/admin/accounts', {
      name: values.text('name'),
      senders: values.text('senders'),
      dlt: values.text('dlt'),
      number_check: values.text('number_check'),
      entity_id: values.optional('entity_id'),
      expiry_date: values.optional('expiry_date'),
    });
    if (warnings) toast(warnings.join(' '), 'bad');
    else toast('Account created. Top it up next.');
    route(`/dashboard/admin/accounts/${account.account_id}`);
  };
  return (
    <FormDialog title="Create account" submit="Create account" onSubmit={make}>
      <Field name="name" label="Name" hint="What people call it." />
      <Select
        name="dlt"
        label="India's DLT"
        options={SWITCH}
        value={dlt}
        onInput={setDlt}
        hint="On for accounts that send in India: it brings registered senders and the check of numbers."
      />
      {dlt === 'on' && (
        <DltIdField name="entity_id" label="PE id" optional hint="Of the business on the DLT platform." />
      )}
      {/* A new key: the choice that goes with DLT. It can be changed. */}
      <Select key={`senders ${dlt}`} name="senders" label="Senders" options={SENDER_RULES} initial="registered" />
      <Select
        key={`check ${dlt}`}
        name="number_check"
        label="Check of recipients"
        options={NUMBER_CHECKS}
        initial={dlt}
      />
      <Field
        name="expiry_date"
        label="Credits may be spent until"
        type="date"
        optional
        hint="A year from now unless given."
      />
    </FormDialog>
  );
}

/** The choices of an account's settings, with their words. */
export const SENDER_RULES = [
  ['any', 'Every sender of valid form'],
  ['registered', 'Only registered and approved ones'],
] as const;
export const SWITCH = [
  ['off', 'Off'],
  ['on', 'On'],
] as const;
export const NUMBER_CHECKS = [
  ['off', 'None'],
  ['on', "Numbers of their country's plan"],
  ['mobile', 'Mobile numbers only'],
] as const;
export const CTA_CHECKS = [
  ['off', 'Not looked at'],
  ['warn', 'Warned of'],
  ['refuse', 'Refused'],
] as const;
export const LINE_BREAKS = [
  ['any', 'CR LF and LF are one line break'],
  ['exact', 'CR LF and LF differ, as a few operators want it'],
] as const;
export const TEXTS = [
  ['shown', 'Its users and keys; viewers and operators without codes'],
  ['own', 'Its users and keys, not operators'],
  ['hidden', 'Nobody, once they are sent'],
] as const;
export const LOGS = [
  ['unusual', 'Unusual answers and receipts'],
  ['all', 'All answers and receipts'],
] as const;
