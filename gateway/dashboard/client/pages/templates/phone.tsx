interface PhoneProps {
  readonly title: string;
  readonly header?: string | undefined;
  readonly body: string;
  readonly footer?: string | undefined;
  readonly buttons?: readonly string[];
}

/** How a message will look on a phone, roughly. */
export function Phone({ title, header = '', body, footer = '', buttons = [] }: PhoneProps) {
  return (
    <figure class="phone">
      <figcaption>{title} preview</figcaption>
      <div class="bubble">
        {header !== '' && <strong>{header}</strong>}
        <p>{body === '' ? '…' : body}</p>
        {footer !== '' && <small>{footer}</small>}
      </div>
      {buttons.map((label, i) => (
        <div class="bubble-button" key={i}>
          {label === '' ? '…' : label}
        </div>
      ))}
    </figure>
  );
}
