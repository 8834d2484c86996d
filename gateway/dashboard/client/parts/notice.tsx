import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';

interface NoticeProps {
  readonly tone?: 'info' | 'good' | 'warn' | 'bad';
  readonly children: ComponentChildren;
}

/** A lasting remark on a page. What happens by an act of the user is told by `toast`. */
export function Notice({ tone = 'info', children }: NoticeProps) {
  return (
    <div class={`notice ${tone}`}>
      <Icon name={tone === 'good' ? 'check' : 'warning'} />
      <div>{children}</div>
    </div>
  );
}
