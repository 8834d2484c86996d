import { CodeBlock } from '../../parts/copy.tsx';
import { Card } from '../../parts/page.tsx';

const NODE = `import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(WEBHOOK_SECRET); // whsec_…
// body: the bytes as they came, before any JSON parser. Throws when the post is not ours.
const event = webhook.verify(body, request.headers);`;

const PYTHON = `from standardwebhooks import Webhook

webhook = Webhook(WEBHOOK_SECRET)  # whsec_…
# body: the bytes as they came. Raises when the post is not ours.
event = webhook.verify(body, request.headers)`;

/** How a server tells our posts from others. */
export function Verify() {
  return (
    <Card
      title="Check the signature"
      lead="Posts are signed as Standard Webhooks says. Answer 2xx within 15 seconds, then process the event. A webhook-id that you have seen is a repeat."
    >
      <CodeBlock text={NODE} label="Node.js" />
      <CodeBlock text={PYTHON} label="Python" />
    </Card>
  );
}
