import { createRequire } from 'node:module';
import { applyDecorators } from '@nestjs/common';
import type * as Swagger from '@nestjs/swagger';

type AnyDecorator = PropertyDecorator & MethodDecorator & ClassDecorator;

function loadSwagger(): typeof Swagger | null {
  try {
    return createRequire(__filename)('@nestjs/swagger') as typeof Swagger;
  } catch {
    return null;
  }
}

// Decorators run when a class is loaded, so an optional package must be looked for here; without it they do nothing.
const swagger = loadSwagger();

function optional<Options>(real: ((options: Options) => unknown) | undefined): (options: Options) => AnyDecorator {
  return (options) => (real === undefined ? applyDecorators() : real(options)) as AnyDecorator;
}

/** Describes a property in the OpenAPI document; does nothing where `@nestjs/swagger` is not installed. */
export const DescribedProperty = optional<Swagger.ApiPropertyOptions>(swagger?.ApiProperty);
/** Describes what a route is for. */
export const DescribedOperation = optional<Swagger.ApiOperationOptions>(swagger?.ApiOperation);
/** Leaves a route out of the document. */
export const UndescribedOperation = optional<boolean>(swagger?.ApiExcludeEndpoint);
/** Describes one response of a route. */
export const DescribedResponse = optional<Swagger.ApiResponseOptions>(swagger?.ApiResponse);
/** Describes a path parameter of a route. */
export const DescribedParam = optional<Swagger.ApiParamOptions>(swagger?.ApiParam);
/** Groups the routes of a controller. */
export const DescribedGroup = optional<string>(swagger?.ApiTags);
/** Registers classes that only schemas refer to. */
export function DescribedModels(...models: (new () => object)[]): ClassDecorator & MethodDecorator {
  return swagger === null ? applyDecorators() : swagger.ApiExtraModels(...models);
}
