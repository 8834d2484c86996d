/** A text of the API, in which names stand between backticks. */
export function Words({ text }: { readonly text: string }) {
  return (
    <>
      {text.split('`').map((part, at) => {
        const key = `${at} ${part}`;
        return at % 2 === 1 ? <code key={key}>{part}</code> : <span key={key}>{part}</span>;
      })}
    </>
  );
}
