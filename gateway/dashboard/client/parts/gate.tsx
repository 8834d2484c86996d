import type { ComponentChildren } from 'preact';
import { Brand } from './brand.tsx';
import { PageHead } from './page.tsx';

interface GateProps {
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A page of its own in the middle, before the dashboard. */
export function Gate({ title, lead, children }: GateProps) {
  return (
    <main class="gate">
      <Brand />
      <div class="card">
        <PageHead title={title} {...(lead === undefined ? {} : { lead })} />
        {children}
      </div>
    </main>
  );
}
