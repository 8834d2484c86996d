import { useId, useState } from 'preact/hooks';

interface FileFieldProps {
  readonly label: string;
  readonly onRead: (octets: Uint8Array) => void;
  /** What is wrong with what was read. */
  readonly fault?: string | undefined;
}

/** A CSV file that the user chooses; its bytes go to `onRead`. */
export function FileField({ label, onRead, fault }: FileFieldProps) {
  const id = useId();
  const [isUnread, setUnread] = useState(false);
  const read = async (file: File | undefined) => {
    if (file === undefined) return;
    try {
      onRead(new Uint8Array(await file.arrayBuffer()));
      setUnread(false);
    } catch {
      setUnread(true); // It was moved, or may not be read.
    }
  };
  const error = isUnread ? 'The file cannot be read. Choose it again.' : fault;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="file"
        accept=".csv,text/csv,text/plain"
        // A corrected file of the same name is no change otherwise.
        onClick={(event) => {
          event.currentTarget.value = '';
        }}
        onChange={(event) => read(event.currentTarget.files?.[0])}
        {...(error === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': `${id}-error` })}
      />
      {error && (
        <p class="error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
