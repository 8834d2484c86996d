import { Button } from '../../parts/button.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Time } from '../../parts/time.tsx';
import type { UserLink } from './user.ts';

interface LinkDialogProps {
  readonly title: string;
  readonly link: UserLink;
  readonly onClose: () => void;
}

/** A one-time link to pass on. Whoever has it sets the password. */
export function LinkDialog({ title, link, onClose }: LinkDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>
        {link.mailed_to === null
          ? 'Pass this link on, in a way that nobody else reads.'
          : `It is mailed to ${link.mailed_to}. Pass it on only if no mail comes.`}{' '}
        It works once, until <Time at={link.link_expires_at} full />. It is shown only now.
      </p>
      <div class="secret">
        <code>{link.link}</code>
        <Copy text={link.link} label="link" />
      </div>
      <div class="dialog-actions">
        <Button look="primary" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}
