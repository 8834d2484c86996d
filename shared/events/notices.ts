import type { MailDocument } from '../people/mails.ts';
import type { UserDocument } from '../people/users/user.ts';
import type { Notice, NoticeWords } from './account-event.ts';
import { NOTICE_NAMES, NOTICES, type NoticeName } from './catalogue.ts';

type Wishes = Pick<UserDocument, 'role' | 'notices'>;

export function noticesFor({ role }: Pick<UserDocument, 'role'>): readonly NoticeName[] {
  return NOTICE_NAMES.filter((name) => {
    const { mayGet }: Notice = NOTICES[name];
    return mayGet === 'self' || mayGet.includes(role);
  });
}

/** By the user's choice, or because the role gets it by default. */
export function getsNotice({ role, notices }: Wishes, name: NoticeName): boolean {
  const { mayGet, getsUnasked }: Notice = NOTICES[name];
  if (mayGet !== 'self' && !mayGet.includes(role)) return false;
  if (notices?.off.includes(name)) return false;
  return getsUnasked.includes(role) || notices?.on.includes(name) === true;
}

/** The stored wishes with which somebody of this role gets exactly these notices. */
export function wishesOf(
  role: UserDocument['role'],
  wanted: readonly NoticeName[],
): NonNullable<UserDocument['notices']> {
  const usual = (name: NoticeName) => getsNotice({ role }, name);
  return {
    on: wanted.filter((name) => !usual(name)),
    off: noticesFor({ role }).filter((name) => usual(name) && !wanted.includes(name)),
  };
}

/** Undefined for a mail that tells of no notice, but has a link. */
export function noticeWords({ kind, told }: Pick<MailDocument, 'kind' | 'told'>): NoticeWords | undefined {
  if (!Object.hasOwn(NOTICES, kind)) return undefined;
  const notice: Notice = NOTICES[kind as NoticeName]; // as the line above found
  return notice.words(told);
}
