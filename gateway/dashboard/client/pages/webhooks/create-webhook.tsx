import { useState } from 'preact/hooks';
import { create } from '../../api/http.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { EventBoxes } from './event-boxes.tsx';
import { CHANNELS, type Channel, type CreatedWebhook } from './webhook.ts';

interface CreateWebhookProps {
  readonly onClose: () => void;
  readonly onCreated: (made: CreatedWebhook) => void;
}

export function CreateWebhookDialog({ onClose, onCreated }: CreateWebhookProps) {
  const [channel, setChannel] = useState<Channel>('sms');
  return (
    <Dialog title="Add a webhook" onClose={onClose}>
      <Form
        submit="Add webhook"
        onCancel={onClose}
        onSubmit={async (values) => {
          onCreated(
            await create<CreatedWebhook>('/v2/account/webhooks', {
              channel,
              url: values.text('url'),
              events: values.all('events'),
            }),
          );
        }}
      >
        <Select
          name="channel"
          label="Channel"
          options={CHANNELS}
          value={channel}
          onInput={(value) => setChannel(value as Channel)} // one of the options
        />
        <Field
          name="url"
          label="Address"
          type="url"
          mono
          hint="Where your server takes the events: https, reachable from the internet."
        />
        <EventBoxes channel={channel} />
      </Form>
    </Dialog>
  );
}
