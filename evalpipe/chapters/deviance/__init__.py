"""The deviance of each model beside that of no model, with a test where there is one."""
