import type { ComponentChildren, JSX } from 'preact';
import { Icon, type IconName } from './icon.tsx';

interface Look {
  /** One `primary` on a page or in a dialog. `danger` for what cannot be undone. `quiet` inside rows. */
  readonly look?: 'primary' | 'danger' | 'quiet';
  readonly icon?: IconName;
  readonly children: ComponentChildren;
}

type ButtonProps = Look & Omit<JSX.IntrinsicElements['button'], 'class' | 'icon'> & { readonly busy?: boolean };

/** Its words begin with a verb: "Revoke key", never "OK". */
export function Button({ look, icon, busy = false, type = 'button', children, ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      class={`button ${look ?? ''}`}
      aria-busy={busy}
      disabled={busy || rest.disabled === true}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A link that looks like a button: it leads to another page. */
export function LinkButton({
  look,
  icon,
  children,
  ...rest
}: Look & { readonly href: string; readonly download?: string }) {
  return (
    <a {...rest} class={`button ${look ?? ''}`}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  );
}
