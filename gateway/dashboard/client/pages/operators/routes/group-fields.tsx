import { Button } from '../../../parts/button.tsx';
import { Field, Select } from '../../../parts/field.tsx';
import { useFieldError } from '../../../parts/form.tsx';
import type { Carriers } from '../carriers/carrier.ts';
import type { Route } from './route.ts';

type Groups = Route['groups'];

interface GroupFieldsProps {
  readonly groups: Groups;
  readonly carriers: Carriers['carriers'];
  readonly onChange: (groups: Groups) => void;
}

/** Carriers of one group share what matches by their weights; the next group takes over when one is down or waits too long. */
export function GroupFields({ groups, carriers, onChange }: GroupFieldsProps) {
  const error = useFieldError('groups');
  const options = carriers.map(({ carrier_id: id, name }) => [id, name === id ? id : `${name} (${id})`] as const);
  const first = carriers[0]?.carrier_id ?? '';
  const another = (group: Groups[number]) =>
    carriers.find(({ carrier_id: id }) => group.every(({ carrier }) => carrier !== id))?.carrier_id ?? first;
  const change = (at: number, group: Groups[number]) =>
    onChange(group.length === 0 ? groups.filter((_, i) => i !== at) : groups.with(at, group));
  return (
    <fieldset class="field" name="groups">
      <legend>Carriers</legend>
      {groups.length === 0 && <p class="hint">No carrier: what matches is refused.</p>}
      {groups.map((group, g) => (
        <fieldset key={g} class="group">
          <legend>{g === 0 ? 'First' : `Then, group ${g + 1}`}</legend>
          {group.map(({ carrier, weight }, c) => (
            <div key={c} class="weighted">
              <Select
                name={`carrier ${g} ${c}`}
                label="Carrier"
                options={options}
                value={carrier}
                onInput={(chosen) => change(g, group.with(c, { carrier: chosen, weight }))}
              />
              <Field
                name={`weight ${g} ${c}`}
                label="Weight"
                inputMode="numeric"
                value={String(weight)}
                onInput={(text) => change(g, group.with(c, { carrier, weight: Number(text) || 0 }))}
              />
              <Button
                look="quiet"
                onClick={() =>
                  change(
                    g,
                    group.filter((_, at) => at !== c),
                  )
                }
              >
                Remove <span class="hidden">{carrier}</span>
              </Button>
            </div>
          ))}
          <Button
            look="quiet"
            icon="plus"
            onClick={() => change(g, [...group, { carrier: another(group), weight: 1 }])}
          >
            Share with another carrier
          </Button>
        </fieldset>
      ))}
      <Button icon="plus" onClick={() => onChange([...groups, [{ carrier: first, weight: 1 }]])}>
        {groups.length === 0 ? 'Add a carrier' : 'Add who takes over'}
      </Button>
      {error && <p class="error">{error}</p>}
    </fieldset>
  );
}
