import type { NoticeWords } from '../../shared/events/account-event.ts';
import { noticeWords } from '../../shared/events/notices.ts';
import type { MailDocument } from '../../shared/people/mails.ts';

export interface Rendered {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

interface Letter {
  readonly subject: string;
  readonly text: readonly string[];
  readonly act: { readonly label: string; readonly url: string };
  readonly foot: string;
}

/** `dashboard`: its address. `link`: of a mail with a one-time link. */
export function render(mail: MailDocument, dashboard: string, link?: string): Rendered {
  const letter = link === undefined ? noticeLetter(mail, dashboard) : linkLetter(mail, link);
  return { subject: letter.subject, text: plain(letter), html: html(letter) };
}

function noticeLetter(mail: MailDocument, dashboard: string): Letter {
  const words: NoticeWords = noticeWords(mail) ?? { subject: mail.kind, text: [], page: '' };
  const whose = mail.accountName ?? 'Harkara';
  const page = (mail.account === undefined ? words.operatorsPage : undefined) ?? words.page;
  return {
    subject: `[${whose}] ${words.subject}`,
    text: [...words.text, `It happened at ${mail.at.toISOString().slice(0, 16).replace('T', ' ')} UTC.`],
    act: { label: 'Open the dashboard', url: `${dashboard}${page}` },
    foot: `You get this as a user of ${whose}. Choose what you are told of in your profile: ${dashboard}/profile`,
  };
}

function linkLetter({ accountName, told }: MailDocument, link: string): Letter {
  const whose = accountName ?? 'Harkara';
  const isInvitation = told.purpose === 'invitation';
  const until = String(told.expires_at).slice(0, 16).replace('T', ' ');
  return {
    subject: isInvitation ? `Your access to ${whose}` : `Set a new password for ${whose}`,
    text: [
      isInvitation
        ? `You were invited to ${whose}. Your sign-in name is ${told.username}.`
        : `Somebody who may do that made a link for you, ${told.username}, to set a new password.`,
      `Choose a password with this link. It works once, until ${until} UTC.`,
    ],
    act: { label: isInvitation ? 'Choose a password' : 'Set a new password', url: link },
    foot: 'If you did not expect this, do nothing: without the link nothing changes. Give it to nobody.',
  };
}

function plain({ text, act, foot }: Letter): string {
  return `${[...text, `${act.label}:\n${act.url}`].join('\n\n')}\n\n-- \n${foot}\n`;
}

/** One narrow column that fits a phone. Loads nothing from elsewhere. */
function html({ subject, text, act, foot }: Letter): string {
  const paragraphs = text.map((one) => `<p style="margin:0 0 16px">${escaped(one)}</p>`).join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(subject)}</title>
</head>
<body style="margin:0;padding:24px 16px;font:16px/1.5 system-ui,sans-serif">
<div style="max-width:32em;margin:0 auto">
<h1 style="margin:0 0 16px;font-size:20px;line-height:1.3">${escaped(subject)}</h1>
${paragraphs}
<p style="margin:24px 0"><a href="${escaped(act.url)}" style="display:inline-block;padding:12px 20px;border-radius:6px;background:#1f4fd8;color:#ffffff;text-decoration:none">${escaped(act.label)}</a></p>
<p style="margin:24px 0 0;font-size:13px;opacity:.75">${escaped(foot)}</p>
</div>
</body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
