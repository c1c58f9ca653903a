import { Test } from '@nestjs/testing';
import { ChatController } from '../../src/http/chat.controller';
import { publishOpenApi } from '../../src/http/openapi';
import { DiagnosisModule, type ChatResult } from '../../src/index';
import { SCRIPTED_HOST, resetScript } from '../chat/scripted-diagnosis';

jest.mock('@nestjs/swagger', () => {
  throw Object.assign(new Error('Cannot find module'), { code: 'MODULE_NOT_FOUND' });
});

describe('without @nestjs/swagger', () => {
  it('[C2] boots and answers over HTTP, and only /docs says which package is missing', async () => {
    resetScript();
    const module = await Test.createTestingModule({
      imports: [DiagnosisModule.forRoot({ database: { url: 'sqlite::memory:' }, ...SCRIPTED_HOST })],
    }).compile();
    const app = module.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
    expect(app.get(ChatController)).toBeInstanceOf(ChatController);
    const response = await fetch(`${await app.getUrl()}/api/v1/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'Which unit fails?' }),
    });
    expect(((await response.json()) as ChatResult).verdict).toBe('PASS');
    await expect(publishOpenApi(app)).rejects.toMatchObject({
      code: 'DEPENDENCY_MISSING',
      message: expect.stringContaining('npm install @nestjs/swagger'),
    });
    await app.close();
  });
});
