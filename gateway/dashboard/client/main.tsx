import './styles/base.css';
import './styles/frame.css';
import './styles/parts.css';
import './styles/forms.css';
import './styles/pages.css';
import { render } from 'preact';
import { App } from './app.tsx';

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
