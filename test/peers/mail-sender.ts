import { MailServer } from '../../workers/mail/server.ts';

/**
 * Sends a mail to each address and prints the results as JSON lines. Only a new process trusts the authority in
 * NODE_EXTRA_CA_CERTS. Arguments: port, password, addresses.
 */
const [port = '', smtpPassword = '', ...addresses] = process.argv.slice(2);
const server = new MailServer({
  ...{ smtpHost: 'localhost', smtpPort: Number(port), smtpTls: 'starttls', smtpUser: 'harkara', smtpPassword },
  mailFrom: 'Harkara <no-reply@sms.example.com>',
});
for (const [at, to] of addresses.entries()) {
  const messageId = `<eml_${at}@sms.example.com>`;
  const result = await server.send({ messageId, to, subject: `Grüße ${at}`, text: 'नमस्ते', html: '<p>नमस्ते</p>' });
  console.log(JSON.stringify(result));
}
server.close();
