import { post } from '../../../api/http.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { Form } from '../../../parts/form.tsx';
import type { FormValues } from '../../../parts/form-values.ts';
import { toast } from '../../../parts/toast.tsx';
import type { Carrier, CarrierDetail, ChangedCarrier } from './carrier.ts';

interface PauseDialogProps {
  readonly carrier: Carrier;
  readonly onClose: () => void;
  readonly onChange: (carrier: CarrierDetail) => void;
}

export function PauseDialog({ carrier, onClose, onChange }: PauseDialogProps) {
  const isActive = carrier.status === 'active';
  const change = async (values: FormValues) => {
    const { carrier: changed } = await post<ChangedCarrier>(`/v2/admin/carriers/${carrier.carrier_id}/status`, {
      status: isActive ? 'paused' : 'active',
      ...(values.optional('reason') && { reason: values.text('reason') }),
    });
    onChange(changed);
    toast(isActive ? `${carrier.name} is paused.` : `${carrier.name} is active again.`);
    onClose();
  };
  return (
    <Dialog title={isActive ? `Pause ${carrier.name}?` : `Resume ${carrier.name}?`} onClose={onClose}>
      <p class="prose">
        {isActive
          ? 'Its binds end gracefully. What waits for it waits, or goes by another carrier of its routes.'
          : 'A worker binds to it again within seconds.'}
      </p>
      <Form
        submit={isActive ? 'Pause carrier' : 'Resume carrier'}
        look={isActive ? 'danger' : 'primary'}
        onSubmit={change}
        onCancel={onClose}
      >
        <Field name="reason" label="Reason" optional hint="It stands in the audit." />
      </Form>
    </Dialog>
  );
}
