import { isSilent } from '../api/live.ts';
import { Notice } from '../parts/notice.tsx';

/** Says on a page that moves by itself when it does not. */
export function Silence() {
  if (!isSilent.value) return null;
  return (
    <div role="alert">
      <Notice tone="warn">
        This page is not live at the moment: what it shows may be old. It tries again by itself.
      </Notice>
    </div>
  );
}
