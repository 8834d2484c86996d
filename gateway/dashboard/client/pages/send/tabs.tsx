import { Tabs } from '../../parts/tabs.tsx';

export function SendTabs() {
  return (
    <Tabs
      label="To whom"
      tabs={[
        { href: '/dashboard/send', label: 'To one' },
        { href: '/dashboard/send/many', label: 'To many' },
      ]}
    />
  );
}
