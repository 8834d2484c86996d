import './styles/tokens.css';
import './styles/base.css';
import './styles/frame.css';
import './styles/buttons.css';
import './styles/lists.css';
import './styles/states.css';
import './styles/parts.css';
import './styles/forms.css';
import './styles/layers.css';
import './styles/conversation.css';
import './styles/templates.css';
import './styles/print.css';
import { render } from 'preact';
import { App } from './app.tsx';

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
