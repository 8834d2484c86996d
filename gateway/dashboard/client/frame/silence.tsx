import { isSilent } from '../api/live.ts';
import { Notice } from '../parts/notice.tsx';

/** The notice on pages with live values while no values come. */
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
