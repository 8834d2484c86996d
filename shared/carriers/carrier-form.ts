import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { CarrierDlt, CarrierDocument } from './carrier.ts';
import { chainFaults } from './chain.ts';
import { BASICS, REQUIRED } from './settings/basics.ts';
import { ascii, faultsOf } from './settings/setting.ts';
import { GROUP_NAMES, GROUPS, type StoredGroups } from './settings/table.ts';

export class BadCarrier extends Error {
  readonly code = 'bad_carrier';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join(' '));
    this.problems = problems;
  }
}

/** A carrier's document without the fields that the store adds, with the password in clear. */
export type CarrierInput = Omit<CarrierDocument, 'createdAt'>;

/** The standard's limit is 8 characters (SMPP 3.4 §4.1.1); many carriers allow more, and HTTP keys have some 70. */
export const MAX_PASSWORD = 128;
const PASSWORD = { password: ascii('PASSWORD', 0, MAX_PASSWORD) };
/** Without the NUL (SMPP 3.4 §4.1.1). */
const MAX_SYSTEM_ID = 15;

/** Throws `BadCarrier` with all problems. `given`: the new settings; only they are searched for repeated pairs. */
export function checkCarrier(carrier: CarrierInput, given: StoredGroups = carrier): void {
  const values = { ...carrier };
  const problems = [
    ...(/^[a-z0-9-]{1,32}$/.test(carrier._id) ? [] : ['id: 1 to 32 of a-z, 0-9 and -.']),
    ...(carrier.name.trim() !== '' && carrier.name.length <= 64 ? [] : ['name: 1 to 64 characters.']),
    ...faultsOf({ ...REQUIRED, ...PASSWORD, ...BASICS }, values),
    ...GROUP_NAMES.flatMap((name) => faultsOf(GROUPS[name], { ...carrier[name] }, `${name}.`)),
    ...(carrier.dlt === undefined || carrier.dlt === 'off' ? [] : dltFaults(carrier.dlt)),
    ...conflicts(carrier),
    ...repeatedPairs(given),
  ];
  if (problems.length > 0) throw new BadCarrier(problems);
}

function conflicts(carrier: CarrierInput): string[] {
  const { bindKind, dlt = 'off', addresses, links, submits, texts, trust } = carrier;
  const problems = carrier.kind === 'http' ? httpConflicts(carrier) : [];
  if (carrier.kind !== 'http' && carrier.systemId.length > MAX_SYSTEM_ID) {
    problems.push(`systemId: at most ${MAX_SYSTEM_ID} characters over SMPP.`);
  }
  if (submits?.interfaceVersion === '3.3') {
    // Optional parameters exist since SMPP 3.4 (§1.5). A carrier with an older version ignores or refuses them.
    const without = 'with interface_version 3.3 no TLV can be sent';
    if (texts?.longText === 'sar' || texts?.longText === 'payload') problems.push(`texts.longText: ${without}.`);
    if ((submits.tlvs ?? []).length > 0) problems.push(`submits.tlvs: ${without}.`);
    if (dlt !== 'off') problems.push(`dlt: ${without}.`);
  }
  problems.push(
    ...repeatedTags(
      (submits?.tlvs ?? []).map(({ tag }) => tag),
      dlt,
    ),
  );
  if ((links?.receiverHosts ?? []).length > 0 && bindKind !== 'pair') {
    problems.push('links.receiverHosts: only with bindKind pair.');
  }
  if (!isPair(trust?.tlsCertificate, trust?.tlsKey)) {
    problems.push('trust.tlsCertificate: needs its own key in tlsKey, not another one.');
  }
  const forms = Object.values(addresses ?? {});
  const national = forms.some((form) => typeof form === 'object' && 'digits' in form && form.digits === 'national');
  if (national && (addresses?.country ?? '') === '') {
    problems.push('addresses.country: needed for addresses in national form.');
  }
  return problems;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

/** Message texts and the password go to this address, so TLS is required, except on this machine. */
function httpConflicts({ host, tls, http = {}, links, dlt = 'off' }: CarrierInput): string[] {
  const problems: string[] = [];
  if (!tls && !LOOPBACK.test(host)) problems.push('tls: must be yes with kind http.');
  if ((links?.otherHosts ?? []).length > 0) problems.push('links.otherHosts: not with kind http.');
  if (dlt !== 'off') problems.push('dlt: not with kind http; {entity} and {template} stand in the request.');
  const { requestMethod = 'POST', requestForm = [], requestJson = '' } = http;
  if (requestForm.length > 0 === (requestJson !== '')) {
    problems.push('http.requestForm: kind http needs it, or http.requestJson, and not both.');
  }
  if (requestJson !== '' && requestMethod === 'GET') problems.push('http.requestJson: not with requestMethod GET.');
  return problems;
}

/** Names given twice in a list of `name=value` pairs: only one of the two would count, and nobody sees which. */
function repeatedPairs({ addresses, answers, http, receipts }: StoredGroups): string[] {
  const left = {
    'addresses.rewriteSender': addresses?.rewriteSender?.map(({ prefix }) => prefix),
    'addresses.rewriteRecipient': addresses?.rewriteRecipient?.map(({ prefix }) => prefix),
    'receipts.receiptWord': receipts?.receiptWord?.map(({ word }) => word.toUpperCase()),
    'http.requestHeaders': http?.requestHeaders?.map(({ name }) => name),
    'http.requestForm': http?.requestForm?.map(({ name }) => name),
    'http.answerClass': http?.answerClass?.map(({ code }) => code),
    'answers.statusClass': answers?.statusClass?.map(({ status }) => `0x${status.toString(16).toUpperCase()}`),
  };
  return Object.entries(left).flatMap(([name, words = []]) => {
    const twice = new Set(words.filter((word, i) => words.indexOf(word) < i));
    return twice.size === 0 ? [] : [`${name}: each once, but ${[...twice].join(', ')} is given more than once.`];
  });
}

/** Tags that would be sent twice: nobody knows which of the two TLVs the carrier would read. */
function repeatedTags(tags: readonly number[], dlt: CarrierDlt | 'off'): string[] {
  const problems = new Set(tags).size === tags.length ? [] : ['submits.tlvs: each tag once.'];
  if (dlt === 'off') return problems;
  const own = [dlt.entityTag, dlt.templateTag, dlt.hashTag];
  const shared = tags.filter((tag) => own.includes(tag)).map((tag) => `0x${tag.toString(16)}`);
  return shared.length === 0 ? problems : [...problems, `submits.tlvs: dlt has ${shared.join(' and ')} already.`];
}

/** A text that is not PEM counts as a pair, because it has been reported already. */
function isPair(certificate = '', key = ''): boolean {
  if (certificate === '') return true;
  if (key === '') return false;
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return true;
  }
}

/** The tags that SMPP 3.4 §5.3.2 leaves to vendors. */
const VENDOR_TAGS = { min: 0x1400, max: 0x3fff };

function dltFaults({ entityTag, templateTag, hashTag, chain }: CarrierDlt): string[] {
  const tags = [entityTag, templateTag, ...(hashTag === undefined ? [] : [hashTag])];
  const { min, max } = VENDOR_TAGS;
  const problems: string[] = [];
  if (!tags.every((tag) => Number.isInteger(tag) && tag >= min && tag <= max)) {
    problems.push('dlt: tags are 0x1400 to 0x3fff.');
  }
  if (new Set(tags).size !== tags.length) problems.push('dlt: each tag once.');
  if (chain === undefined) return problems;
  if (hashTag === undefined) problems.push('dlt: a chain needs a tag for the hash.');
  return [...problems, ...chainFaults(chain).map((fault) => `dlt: ${fault}`)];
}
