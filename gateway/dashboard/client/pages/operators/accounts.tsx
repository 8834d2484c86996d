import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { AnswerOf, EntryOf } from '../../../../api/endpoint.ts';
import type { changeAccount, listAccounts, newAccount, showAccount } from '../../../../endpoints/accounts/accounts.ts';
import { create, patch } from '../../api/http.ts';
import { usePages } from '../../api/load.ts';
import { may } from '../../api/session.ts';
import { DltIdField, Field, Select } from '../../parts/field.tsx';
import { changed, Form, FormDialog, type FormValues, toast, useDialog } from '../../parts/form.tsx';
import { FilterSelect, FilterText, ListPage, useUrlFilter } from '../../parts/list.tsx';
import { Card } from '../../parts/page.tsx';
import { AddButton, Badge, number, Time, type Tone } from '../../parts/value.tsx';
import { BillingFields, billingIn, filled } from '../account.tsx';

type Account = EntryOf<typeof listAccounts>;
export type AccountDetail = AnswerOf<typeof showAccount>;
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

export function AccountsPage() {
  const filter = useUrlFilter('search', 'status');
  const [dialog, open] = useDialog();
  return (
    <ListPage
      title="Accounts"
      lead="The customers of this installation."
      actions={
        may('admin:support') && <AddButton onClick={() => open(<CreateAccountDialog />)}>Create account</AddButton>
      }
      list={usePages<Account>('/v2/admin/accounts', filter.values)}
      filter={filter}
      filters={
        <>
          <FilterText filter={filter} name="search" label="Name or id" placeholder="Asha, acc_01k…" />
          <FilterSelect filter={filter} name="status" label="Status" options={STATUSES} />
        </>
      }
      rowKey={({ account_id }) => account_id}
      icon="accounts"
      empty="No accounts yet. Create one, then top it up."
      columns={[
        { head: 'Name', cell: (row) => <a href={`/dashboard/admin/accounts/${row.account_id}`}>{row.name}</a> },
        { head: 'Status', cell: ({ status }) => <Badge tone={STATUS_TONES[status]}>{status}</Badge> },
        { head: 'Credits', kind: 'number', cell: ({ balance }) => number(balance) },
        { head: 'Until', cell: ({ expiry_date }) => expiry_date },
        { head: 'Made', cell: (row) => <Time at={row.created_at} /> },
      ]}
      after={dialog}
    />
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
      <Field name="name" label="Name">
        What people call it.
      </Field>
      <Select name="dlt" label="India's DLT" options={SWITCH} value={dlt} onInput={setDlt}>
        On for accounts that send in India: it brings registered senders and the check of numbers.
      </Select>
      {dlt === 'on' && (
        <DltIdField name="entity_id" label="PE id" optional>
          Of the business on the DLT platform.
        </DltIdField>
      )}
      {/* The new key resets it to the default that goes with DLT; it can still be changed. */}
      <Select key={`senders ${dlt}`} name="senders" label="Senders" options={SENDER_RULES} initial="registered" />
      <Select
        key={`check ${dlt}`}
        name="number_check"
        label="Check of recipients"
        options={NUMBER_CHECKS}
        initial={dlt}
      />
      <Field name="expiry_date" label="Credits may be spent until" type="date" optional>
        A year from now unless given.
      </Field>
    </FormDialog>
  );
}

const SENDER_RULES = [
  ['any', 'Every sender of valid form'],
  ['registered', 'Only registered and approved ones'],
] as const;
const SWITCH = [
  ['off', 'Off'],
  ['on', 'On'],
] as const;
const NUMBER_CHECKS = [
  ['off', 'None'],
  ['on', "Numbers of their country's plan"],
  ['mobile', 'Mobile numbers only'],
] as const;
const CTA_CHECKS = [
  ['off', 'Not looked at'],
  ['warn', 'Warned of'],
  ['refuse', 'Refused'],
] as const;
const LINE_BREAKS = [
  ['any', 'CR LF and LF are one line break'],
  ['exact', 'CR LF and LF differ, as a few operators want it'],
] as const;
const TEXTS = [
  ['shown', 'Its users and keys; viewers and operators without codes'],
  ['own', 'Its users and keys, not operators'],
  ['hidden', 'Nobody, once they are sent'],
] as const;
const LOGS = [
  ['unusual', 'Unusual answers and receipts'],
  ['all', 'All answers and receipts'],
] as const;

interface SettingsCardProps {
  readonly account: AccountDetail;
  readonly onChange: (account: AccountDetail) => void;
}

export function SettingsCard({ account, onChange }: SettingsCardProps) {
  const { settings, name, expiry_date } = account;
  const shown = {
    ...settings,
    name,
    expiry_date,
    entity_id: settings.entity_id ?? '',
    country: settings.country ?? '',
    message_days: settings.message_days ?? undefined,
    billing: filled(settings.billing),
  };
  const save = async (values: FormValues) => {
    // A PE id or a country can be changed but not removed: the gateway refuses an empty one.
    const now = {
      name: values.text('name'),
      ...(may('admin:money') && { expiry_date: values.text('expiry_date') }),
      senders: values.text('senders'),
      dlt: values.text('dlt'),
      entity_id: values.text('entity_id'),
      number_check: values.text('number_check'),
      country: values.text('country').toUpperCase(),
      cta_check: values.text('cta_check'),
      line_breaks: values.text('line_breaks'),
      log: values.text('log'),
      message_days: values.number('message_days'),
      message_texts: values.text('message_texts'),
      billing: billingIn(values),
    };
    const path = `/v2/admin/accounts/${account.account_id}`;
    const answer = await patch<ChangedAccount>(path, changed(now, shown));
    onChange(answer.account);
    toast('Settings saved. Gateways and workers see them within seconds.');
  };
  return (
    <Card title="Settings">
      <Form submit="Save settings" look="plain" of={shown} onSubmit={save}>
        <Field name="name" label="Name" />
        {may('admin:money') && <Field name="expiry_date" label="Credits may be spent until" type="date" />}
        <Select name="senders" label="Senders" options={SENDER_RULES} />
        <Select name="dlt" label="India's DLT" options={SWITCH}>
          On brings registered senders and the check of numbers.
        </Select>
        <DltIdField name="entity_id" label="PE id" optional={settings.entity_id === null} />
        <Select name="number_check" label="Check of recipients" options={NUMBER_CHECKS} />
        <Field name="country" label="Country of numbers without a code" optional={settings.country === null}>
          Two letters: IN. Numbers of handsets and in searches are taken to be from there; a send needs the country
          code.
        </Field>
        <Select name="line_breaks" label="Line breaks of DLT texts" options={LINE_BREAKS} />
        <Select name="cta_check" label="Texts with a link or number that is not registered" options={CTA_CHECKS}>
          The account registers them under Links and numbers. A warning is told by a dry run and on the message's page.
        </Select>
        <Field
          name="message_days"
          label="Days that messages are kept"
          optional={settings.message_days === null}
          inputMode="numeric"
        >
          After their end, at least 14. More than for all accounts changes nothing.
        </Field>
        <Select name="log" label="Kept for timelines" options={LOGS} />
        <Select name="message_texts" label="Who is shown texts of messages" options={TEXTS} />
        <h3>Buyer on statements</h3>
        <BillingFields />
      </Form>
    </Card>
  );
}
