import { useState } from 'preact/hooks';
import { post } from '../../api/http.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { Card } from '../../parts/page.tsx';
import { PASSWORD_HINT, Password } from '../../parts/password.tsx';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';
import type { Profile } from './profile-view.ts';

interface PasswordCardProps {
  readonly profile: Profile;
  readonly reload: () => void;
}

export function PasswordCard({ profile, reload }: PasswordCardProps) {
  const [changing, setChanging] = useState(false);
  const close = () => setChanging(false);
  return (
    <Card title="Password">
      <p class="soft">
        Changed <Time at={profile.password_changed_at} none="never" />.
      </p>
      <div class="acts">
        <Button onClick={() => setChanging(true)}>Change password</Button>
      </div>
      {changing && (
        <Dialog title="Change your password" onClose={close}>
          <p>All your other sessions end.</p>
          <Form
            submit="Change password"
            onCancel={close}
            onSubmit={async (values) => {
              await post('/v2/profile/password', {
                current_password: values.exact('current_password'),
                password: values.exact('password'),
              });
              close();
              reload();
              toast('Password changed. Your other sessions have ended.');
            }}
          >
            <Password name="current_password" label="Current password" kind="current-password" />
            <Password name="password" label="New password" kind="new-password" hint={PASSWORD_HINT} />
          </Form>
        </Dialog>
      )}
    </Card>
  );
}
