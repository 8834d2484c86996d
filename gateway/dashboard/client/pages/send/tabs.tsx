import { Tabs } from '../../parts/tabs.tsx';

export function SendTabs() {
  return (
    <Tabs
      label="Send by"
      tabs={[
        { href: '/dashboard/send', label: 'SMS to one' },
        { href: '/dashboard/send/many', label: 'SMS to many' },
        { href: '/dashboard/send/chatapp', label: 'Chat-app' },
      ]}
    />
  );
}
