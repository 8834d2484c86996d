import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { testWebhook } from '../../../../endpoints/webhooks/webhooks.ts';
import { post } from '../../api/http.ts';
import { Badge } from '../../parts/badge.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Form } from '../../parts/form.tsx';
import { number } from '../../parts/number.ts';

type Tested = AnswerOf<typeof testWebhook>;

/** Posts a test event, and shows what the server answered. */
export function TestDialog({ path, onClose }: { readonly path: string; readonly onClose: () => void }) {
  const [tested, setTested] = useState<Tested>();
  return (
    <Dialog title="Send a test event" onClose={onClose}>
      <p>
        A signed event <code>webhook.test</code> is posted now. It is no delivery: nothing is repeated.
      </p>
      <Form
        submit={tested === undefined ? 'Send test' : 'Send again'}
        onCancel={onClose}
        onSubmit={async () => setTested(await post<Tested>(`${path}/test`))}
      />
      {tested && (
        <div role="status" class="stack">
          <Facts
            facts={[
              ['Result', <Badge tone={tested.acknowledged ? 'good' : 'bad'}>{tested.result}</Badge>],
              ['Meaning', tested.reason],
              ['Took', `${number(tested.duration_ms)} ms`],
            ]}
          />
          <h3>Posted</h3>
          <CodeBlock text={tested.body} label="posted body" />
          <h3>Answered</h3>
          {tested.answer ? <CodeBlock text={tested.answer} label="answer" /> : <p class="soft">Nothing.</p>}
        </div>
      )}
    </Dialog>
  );
}
